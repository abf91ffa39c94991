import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';

/** The name of the key among the credentials that systemd hands to the service. */
export const credentialName = 'bcd.at-rest-key';

export interface AtRestKeyPlaces {
  /** `$CREDENTIALS_DIRECTORY` of systemd. */
  credentialsDirectory?: string;
  /** `secrets.keyFile` of the configuration. */
  keyFile?: string;
  stateDirectory: string;
}

export interface AtRestKeys {
  /** 32 bytes each. Everything is encrypted by the first; the second one, if there is, is the one before it. */
  keys: readonly Buffer[];
  /** Whether it lies beside what it encrypts: a stolen disk then gives both. */
  besideData: boolean;
}

/**
 * The key that secrets are encrypted by on this site's disk: systemd's credential, else the configured file, else one that is made in
 * the state directory. A key is the base64 of 32 bytes. The one before it, while there is still something that it encrypted, has the same name and `.old`.
 * @throws RailheadError INVALID_CONFIG for a configured file that cannot be read, or anything that is no key
 */
export async function openAtRestKeys(places: AtRestKeyPlaces): Promise<AtRestKeys> {
  const { credentialsDirectory, keyFile, stateDirectory } = places;
  if (credentialsDirectory !== undefined) {
    const keys = await keysAt(path.join(credentialsDirectory, credentialName));
    if (keys.length > 0) return { keys, besideData: false };
  }
  if (keyFile === undefined) return { keys: [await ownKey(stateDirectory)], besideData: true };
  const keys = await keysAt(keyFile);
  if (keys.length === 0)
    throw unusable(keyFile, 'does not exist: make it, 32 random bytes as base64', 'missing');
  return { keys, besideData: false };
}

/** The key in this file, and the one before it; none when there is no file. */
async function keysAt(file: string): Promise<Buffer[]> {
  const key = await readKey(file);
  if (key === undefined) return [];
  const former = await readKey(`${file}.old`);
  return former === undefined ? [key] : [key, former];
}

async function ownKey(stateDirectory: string): Promise<Buffer> {
  const file = path.join(stateDirectory, 'at-rest.key');
  const kept = await readKey(file);
  if (kept !== undefined) return kept;
  const key = randomBytes(32);
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  await writeDurably(file, `${key.toString('base64')}\n`, 0o600);
  return key;
}

async function readKey(file: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw unusable(file, 'cannot be read: check its owner and mode', 'unreadable', error);
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === 32 && key.toString('base64') === text.trim()) return key;
  throw unusable(file, 'must be the base64 of 32 bytes', 'form');
}

function unusable(path: string, what: string, reason: string, cause?: unknown): RailheadError {
  return new RailheadError('INVALID_CONFIG', `the key at ${path} ${what}`, { path, reason }, cause);
}
