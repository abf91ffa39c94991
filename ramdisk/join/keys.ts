import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { machineThumbprint, type OkpJwk } from '#contract/join.ts';

/** The machine's keys for this boot: Ed25519 signs its results, X25519 receives sealed bytes. */
export interface MachineKeys {
  signing: KeyObject;
  sealing: KeyObject;
}

/**
 * The keys of this boot, made on first use. `directory` is on the ramdisk's own file system, so they live in memory only, as
 * long as the boot: an agent that is started again in the same boot must join as the machine that it was.
 */
export async function keysOfThisBoot(directory: string): Promise<MachineKeys> {
  const file = path.join(directory, 'keys.json');
  try {
    return parseKeys(await readFile(file, 'utf8'));
  } catch (error) {
    if (!isENOENT(error)) throw error;
  }
  const keys = makeKeys();
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeDurably(file, serializeKeys(keys), 0o600);
  return keys;
}

/** The public half of a key as a JWK. */
export function publicJwk(key: KeyObject): OkpJwk {
  const { kty, crv, x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return { kty, crv, x } as OkpJwk;
}

/** What operations for this boot are addressed to. */
export function thumbprintOf({ signing, sealing }: MachineKeys): string {
  return machineThumbprint({ signingKey: publicJwk(signing), sealingKey: publicJwk(sealing) });
}

function makeKeys(): MachineKeys {
  return {
    signing: generateKeyPairSync('ed25519').privateKey,
    sealing: generateKeyPairSync('x25519').privateKey,
  };
}

function serializeKeys(keys: MachineKeys): string {
  const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });
  return JSON.stringify({ signing: pem(keys.signing), sealing: pem(keys.sealing) });
}

function parseKeys(text: string): MachineKeys {
  const { signing, sealing } = JSON.parse(text) as { signing: string; sealing: string };
  return { signing: createPrivateKey(signing), sealing: createPrivateKey(sealing) };
}
