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
import { type Authority, newAuthority, openAuthority, succeedingAuthority } from './authority.ts';
import { firstFile, type KeyUse, keyUses, newFile, readRing, ringFile } from './keyRing.ts';

/**
 * The centre's keys, each in a file of its own beside the database, readable by its owner only. The newest of each use signs, seals and
 * issues. A running centre holds one such object: a rotation changes what is in it.
 */
export interface CentralKeys {
  /** Grows with each rotation. */
  number: number;
  /** Signs the certificates of the gateway and the agents. */
  authority: Authority;
  /** Ed25519: signs join answers, boot entries and operations. */
  signing: KeyObject;
  /** X25519: join tokens are sealed to it. */
  joinEncryption: KeyObject;
  /** 32 bytes: encrypts secrets in the database. */
  atRest: Buffer;
  /** What rotations replaced and is still accepted, newest first. */
  older: {
    authorities: Authority[];
    signing: KeyObject[];
    joinEncryption: KeyObject[];
    atRest: Buffer[];
  };
}

/** How each key is made. */
const recipes: Record<KeyUse, () => string | Promise<string>> = {
  authority: newAuthority,
  signing: newSigningKey,
  'join-encryption': newEncryptionKey,
  'at-rest': newAtRestKey,
};

/**
 * Opens the keys of `directory`.
 * @throws RailheadError NOT_FOUND when one of them is missing
 */
export async function openKeys(directory: string): Promise<CentralKeys> {
  const { number, keys } = await readRing(directory);
  const texts = (use: KeyUse) => Promise.all(keys[use].map(({ file }) => readKey(directory, file)));
  const [authority, ...authorities] = (await texts('authority')).map(openAuthority);
  const [signing, ...olderSigning] = (await texts('signing')).map((pem) => createPrivateKey(pem));
  const [joinEncryption, ...olderJoin] = (await texts('join-encryption')).map((pem) => createPrivateKey(pem));
  const [atRest, ...olderAtRest] = (await texts('at-rest')).map((text) => Buffer.from(text, 'base64'));
  if (!authority || !signing || !joinEncryption || !atRest) throw noCentre(directory, 'keys');
  return {
    number,
    // Nobody is left who would need the way from an older CA.
    authority: authorities.length > 0 ? authority : { ...authority, chain: '' },
    signing,
    joinEncryption,
    atRest,
    older: { authorities, signing: olderSigning, joinEncryption: olderJoin, atRest: olderAtRest },
  };
}

/** Makes the keys that `directory` does not have, and returns the names of their files. */
export async function makeMissingKeys(directory: string): Promise<string[]> {
  const folder = path.join(directory, 'keys');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const there = await readdir(folder);
  // After a rotation a key that is missing was lost: a new one in its place would only hide that.
  if (there.includes(path.basename(ringFile(directory)))) return [];
  const missing = keyUses.filter((use) => !there.includes(firstFile(use)));
  for (const use of missing) await placeKey(directory, firstFile(use), await recipes[use]());
  return missing.map(firstFile);
}

/** A new key for a use, and the name of its file; nothing uses it before the ring names it. `replaces` is the CA in whose place a new one steps. */
export async function makeKey(directory: string, use: KeyUse, replaces: Authority): Promise<string> {
  const file = newFile(use);
  const content = use === 'authority' ? await succeedingAuthority(replaces) : await recipes[use]();
  await placeKey(directory, file, content);
  return file;
}

export async function removeKey(directory: string, file: string): Promise<void> {
  await rm(path.join(directory, 'keys', file), { force: true });
  await syncDirectory(path.join(directory, 'keys'));
}

async function readKey(directory: string, name: string): Promise<string> {
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
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const { crv, x } = publicKey.export({ format: 'jwk' }) as { crv: OkpJwk['crv']; x: string };
  return { kty: 'OKP', crv, x };
}

/** Of two processes that start on a new directory, the first to link its key wins, and both use that one. */
async function placeKey(directory: string, name: string, content: string): Promise<void> {
  const file = path.join(directory, 'keys', name);
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
