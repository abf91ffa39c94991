import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { link, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory, writeDurably } from '#base/durableFile.ts';
import { isEEXIST, isENOENT } from '#base/errors.ts';
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

/** Opens the keys of `directory`, making those that are missing. */
export async function openKeys(directory: string): Promise<CentralKeys> {
  const folder = path.join(directory, 'keys');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = (name: string, make: () => string | Promise<string>) =>
    keptFile(path.join(folder, name), make);
  return {
    authority: openAuthority(await kept('authority.pem', newAuthority)),
    signing: createPrivateKey(await kept('signing.pem', newSigningKey)),
    joinEncryption: createPrivateKey(await kept('join-encryption.pem', newEncryptionKey)),
    atRest: Buffer.from(await kept('at-rest.key', () => randomBytes(32).toString('base64')), 'base64'),
  };
}

export function publicJwk(key: KeyObject): OkpJwk {
  const { crv, x } = createPublicKey(key).export({ format: 'jwk' }) as { crv: OkpJwk['crv']; x: string };
  return { kty: 'OKP', crv, x };
}

async function keptFile(file: string, make: () => string | Promise<string>): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!isENOENT(error)) throw error;
  }
  await placeOnce(file, await make());
  return readFile(file, 'utf8');
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

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
