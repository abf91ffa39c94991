import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
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

export interface AtRestKey {
  /** 32 bytes. */
  key: Buffer;
  /** Whether it lies beside what it encrypts: a stolen disk then gives both. */
  besideData: boolean;
}

/**
 * The key that secrets are encrypted by on this site's disk: systemd's credential, else the configured file, else one that is made in
 * the state directory. A key is the base64 of 32 bytes.
 * @throws RailheadError INVALID_CONFIG for a configured file that cannot be read, or anything that is no key
 */
export async function openAtRestKey(places: AtRestKeyPlaces): Promise<AtRestKey> {
  const { credentialsDirectory, keyFile, stateDirectory } = places;
  if (credentialsDirectory !== undefined) {
    const key = await readKey(path.join(credentialsDirectory, credentialName));
    if (key !== undefined) return { key, besideData: false };
  }
  if (keyFile === undefined) return { key: await ownKey(stateDirectory), besideData: true };
  const key = await readKey(keyFile);
  if (key === undefined)
    throw unusable(keyFile, 'does not exist: make it, 32 random bytes as base64', 'missing');
  return { key, besideData: false };
}

async function ownKey(stateDirectory: string): Promise<Buffer> {
  const file = path.join(stateDirectory, 'at-rest.key');
  const kept = await readKey(file);
  if (kept !== undefined) return kept;
  const key = randomBytes(32);
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
