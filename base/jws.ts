import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { CompactSign, type CompactVerifyResult, compactVerify } from 'jose';

/**
 * Signs a JSON document as a compact JWS with an Ed25519 key (EdDSA) or a P-256 key (ES256). `typ` says what it is, so that one kind
 * cannot pass for another.
 */
export function signDocument(typ: string, document: unknown, key: KeyObject): Promise<string> {
  const payload = new TextEncoder().encode(JSON.stringify(document));
  return new CompactSign(payload).setProtectedHeader({ alg: algorithmOf(key), typ }).sign(key);
}

/**
 * The document of a compact JWS, once its signature by `key`, or by one of several, and its `typ` hold.
 * @throws jose's JWSSignatureVerificationFailed, or an Error when `typ` differs
 */
export async function verifyDocument(
  typ: string,
  jws: string,
  key: KeyObject | readonly KeyObject[],
): Promise<unknown> {
  const { payload, protectedHeader } = await verifiedByOne(jws, [key].flat());
  if (protectedHeader.typ !== typ) throw new Error(`expected a signed ${typ}, got ${protectedHeader.typ}`);
  return JSON.parse(new TextDecoder().decode(payload));
}

async function verifiedByOne(jws: string, keys: readonly KeyObject[]): Promise<CompactVerifyResult> {
  let failure: unknown = new Error('there is no key to verify it by');
  for (const key of keys)
    try {
      return await compactVerify(jws, key, { algorithms: [algorithmOf(key)] });
    } catch (error) {
      failure = error;
    }
  throw failure;
}

function algorithmOf(key: KeyObject): 'ES256' | 'EdDSA' {
  return key.asymmetricKeyType === 'ec' ? 'ES256' : 'EdDSA';
}

export function publicKeyFromJwk(jwk: object): KeyObject {
  return createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' });
}
