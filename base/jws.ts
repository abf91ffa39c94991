import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { CompactSign, compactVerify } from 'jose';

/** Signs a JSON document with an Ed25519 key as a compact JWS. `typ` says what it is, so that one kind cannot pass for another. */
export function signDocument(typ: string, document: unknown, key: KeyObject): Promise<string> {
  const payload = new TextEncoder().encode(JSON.stringify(document));
  return new CompactSign(payload).setProtectedHeader({ alg: 'EdDSA', typ }).sign(key);
}

/**
 * The document of a compact JWS, once its signature by `key` and its `typ` hold.
 * @throws jose's JWSSignatureVerificationFailed, or an Error when `typ` differs
 */
export async function verifyDocument(typ: string, jws: string, key: KeyObject): Promise<unknown> {
  const { payload, protectedHeader } = await compactVerify(jws, key, { algorithms: ['EdDSA'] });
  if (protectedHeader.typ !== typ) throw new Error(`expected a signed ${typ}, got ${protectedHeader.typ}`);
  return JSON.parse(new TextDecoder().decode(payload));
}

export function publicKeyFromJwk(jwk: object): KeyObject {
  return createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' });
}
