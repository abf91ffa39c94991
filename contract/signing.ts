import { createPublicKey, type KeyObject, verify } from 'node:crypto';

/**
 * Whether `signature` (base64) over `input` verifies against an SPKI PEM key: Ed25519, or ECDSA P-256 over SHA-256
 * in IEEE P1363 or DER encoding. An unusable key or signature is simply not a match.
 */
export function verifySignature(spkiPem: string, input: Buffer, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64');
  try {
    return verifyWith(createPublicKey(spkiPem), input, bytes);
  } catch {
    return false;
  }
}

function verifyWith(key: KeyObject, input: Buffer, signature: Buffer): boolean {
  if (key.asymmetricKeyType === 'ed25519') return verify(null, input, key, signature);
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return false;
  const encodings = signature.length === 64 ? (['ieee-p1363', 'der'] as const) : (['der'] as const);
  return encodings.some((dsaEncoding) => verify('sha256', input, { key, dsaEncoding }, signature));
}
