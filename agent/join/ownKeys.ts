import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type webcrypto,
} from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import Type, { type Static } from 'typebox';
import { syncDirectory, writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { certificateAlgorithm, x509 } from '#base/x509.ts';
import type { SealingJwk } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';

/** An agent's own private keys, both PKCS#8, PEM. They are made where it runs and never leave. */
const OwnKeys = Type.Object(
  {
    /** P-256: its certificates are for this key. */
    privateKey: Type.String(),
    /** X25519: opens what is sealed to it. */
    sealingPrivateKey: Type.String(),
  },
  { additionalProperties: false },
);
export type OwnKeys = Static<typeof OwnKeys>;

function pendingFile(stateDirectory: string): string {
  return path.join(stateDirectory, 'pending-keys.json');
}

/**
 * The keys of a join that has no answer yet, made on first use. They are on disk before they are first used, so that a
 * join which was cut short is repeated with the same key and can be told from a stolen token.
 */
export async function pendingKeys(stateDirectory: string): Promise<OwnKeys> {
  const file = pendingFile(stateDirectory);
  try {
    return validate(OwnKeys, JSON.parse(await readFile(file, 'utf8')), 'INVALID_STATE');
  } catch (error) {
    if (!isENOENT(error)) throw error;
  }
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const keys = newKeys();
  await writeDurably(file, `${JSON.stringify(keys)}\n`, 0o600);
  return keys;
}

/** Once they are in the identity, or the centre has said no. */
export async function forgetPendingKeys(stateDirectory: string): Promise<void> {
  await rm(pendingFile(stateDirectory), { force: true });
  await syncDirectory(stateDirectory);
}

/** The public half of a sealing key, as the centre is told it. */
export function sealingJwk({ sealingPrivateKey }: Pick<OwnKeys, 'sealingPrivateKey'>): SealingJwk {
  const { x } = createPublicKey(sealingPrivateKey).export({ format: 'jwk' });
  return { kty: 'OKP', crv: 'X25519', x: x as string };
}

/** A PKCS#10 request (PEM) in the name of `nodeId`, signed by the key that it is for. */
export async function certificateRequest(privateKeyPem: string, nodeId: string): Promise<string> {
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [nodeId] }],
    keys: await webCryptoKeys(privateKeyPem),
    signingAlgorithm: certificateAlgorithm,
  });
  return request.toString('pem');
}

function newKeys(): OwnKeys {
  return {
    privateKey: pkcs8(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
    sealingPrivateKey: pkcs8(generateKeyPairSync('x25519').privateKey),
  };
}

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

async function webCryptoKeys(pem: string): Promise<{ privateKey: CryptoKey; publicKey: CryptoKey }> {
  const privateKey = createPrivateKey(pem);
  const jwk = (key: ReturnType<typeof createPublicKey>) =>
    key.export({ format: 'jwk' }) as webcrypto.JsonWebKey;
  return {
    privateKey: await crypto.subtle.importKey('jwk', jwk(privateKey), certificateAlgorithm, false, ['sign']),
    publicKey: await crypto.subtle.importKey(
      'jwk',
      jwk(createPublicKey(privateKey)),
      certificateAlgorithm,
      true,
      ['verify'],
    ),
  };
}
