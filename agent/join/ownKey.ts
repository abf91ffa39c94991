import { createPrivateKey, createPublicKey, generateKeyPairSync, type webcrypto } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { certificateAlgorithm, x509 } from '#base/x509.ts';

/** Where the key waits between being made and being certified. */
export function pendingKeyFile(stateDirectory: string): string {
  return path.join(stateDirectory, 'pending-key.pem');
}

/**
 * The agent's own key (P-256, PKCS#8 PEM). It is on disk before it is first used, so that a join which was cut
 * short is repeated with the same key and can be told from a stolen token.
 */
export async function pendingKey(stateDirectory: string): Promise<string> {
  const file = pendingKeyFile(stateDirectory);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!isENOENT(error)) throw error;
  }
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  await writeDurably(file, pem, 0o600);
  return pem;
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
