import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { link, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory, writeDurably } from '#base/durableFile.ts';
import { isEEXIST, isENOENT } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import type { OkpJwk } from '#contract/join.ts';
import { type Authority, newAuthority, openAuthority } from './authority.ts';

/** The centre's keys. Each is made once and kept in a file of its own beside the database, readable by its owner only. */
export interface CentralKeys {
  /** Signs the certificates of the gateway and the agents. */
  authority: Authority;
  /** Ed25519: signs join answers, boot entries and operations. */
  signing: KeyObject;
  /** X25519: join tokens are sealed to it. */
  joinEncryption: KeyObject;
  /** 32 bytes: encrypts secrets in the database. */
  atRest: Buffer;
}

/** How each key is made, by the name of its file. */
const recipes = {
  'authority.pem': newAuthority,
  'signing.pem': newSigningKey,
  'join-encryption.pem': newEncryptionKey,
  'at-rest.key': newAtRestKey,
} as const;
type KeyFile = keyof typeof recipes;

/**
 * Opens the keys of `directory`.
 * @throws RailheadError NOT_FOUND when one of them is missing
 */
export async function openKeys(directory: string): Promise<CentralKeys> {
  const kept = (name: KeyFile) => readKey(directory, name);
  return {
    authority: openAuthority(await kept('authority.pem')),
    signing: createPrivateKey(await kept('signing.pem')),
    joinEncryption: createPrivateKey(await kept('join-encryption.pem')),
    atRest: Buffer.from(await kept('at-rest.key'), 'base64'),
  };
}

/** Makes the keys that `directory` does not have, and returns the names of those. */
export async function makeMissingKeys(directory: string): Promise<string[]> {
  const folder = path.join(directory, 'keys');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const there = await readdir(folder);
  const missing = Object.entries(recipes).filter(([name]) => !there.includes(name));
  for (const [name, make] of missing) await placeOnce(path.join(folder, name), await make());
  return missing.map(([name]) => name);
}

async function readKey(directory: string, name: KeyFile): Promise<string> {
  const file = path.join(directory, 'keys', name);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw isENOENT(error) ? noCentre(directory, file) : error;
  }
}

/** What a command says that was given the wrong directory, or that came too early. */
export function noCentre(directory: string, missing: string): RailheadError {
  const message = `there is no centre in ${directory}: name its directory, or make one with 'railhead central init'`;
  return new RailheadError('NOT_FOUND', message, { path: 'directory', missing });
}

export function publicJwk(key: KeyObject): OkpJwk {
  const { crv, x } = createPublicKey(key).export({ format: 'jwk' }) as { crv: OkpJwk['crv']; x: string };
  return { kty: 'OKP', crv, x };
}

/** Of two processes that start on a new directory, the first to link its key wins, and both use that one. */
async function placeOnce(file: string, content: string): Promise<void> {
  const candidate = `${file}.${randomBytes(6).toString('hex')}`;
  await writeDurably(candidate, content, 0o600);
  try {
    await link(candidate, file);
  } catch (error) {
    if (!isEEXIST(error)) throw error;
  } finally {
    await rm(candidate);
  }
  await syncDirectory(path.dirname(file));
}

function newSigningKey(): string {
  return pkcs8(generateKeyPairSync('ed25519').privateKey);
}

function newEncryptionKey(): string {
  return pkcs8(generateKeyPairSync('x25519').privateKey);
}

function newAtRestKey(): string {
  return randomBytes(32).toString('base64');
}

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
