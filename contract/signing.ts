import { createPublicKey, type KeyObject, verify } from 'node:crypto';

/**
 * Whether `signature` (base64) over `input` verifies against an SPKI PEM key: Ed25519, or ECDSA P-256 over SHA-256
 * in IEEE P1363 or DER encoding. An unusable key or signature is simply not a match.
 */
export function verifySignature(spkiPem: string, input: Buffer, signature: string): boolean {
  const bytes = decodeBase64(signature);
  const key = openSignerKey(spkiPem);
  if (bytes === undefined || key === undefined) return false;
  return key.asymmetricKeyType === 'ed25519'
    ? verify(null, input, key, bytes)
    : verifyEcdsa(key, input, bytes);
}

/**
 * The key of a PEM that holds one SPKI public key (RFC 7468 section 13) of Ed25519 or ECDSA P-256 and nothing else;
 * undefined for every other text. A private key or a certificate would be read by `createPublicKey` too: neither is
 * what an allowlist holds.
 */
export function openSignerKey(spkiPem: string): KeyObject | undefined {
  if (!spkiPattern.test(spkiPem.trim())) return undefined;
  try {
    const key = createPublicKey({ key: spkiPem, format: 'pem' });
    return isSignerKey(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

const spkiPattern = /^-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----$/;

function isSignerKey({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (asymmetricKeyType === 'ed25519') return true;
  return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
}

/** Two coordinates of 32 bytes each. */
const p1363Bytes = 64;

/** A DER signature may by chance be as long as every P1363 one is: then it is tried as both. */
function verifyEcdsa(key: KeyObject, input: Buffer, signature: Buffer): boolean {
  const encodings = signature.length === p1363Bytes ? (['ieee-p1363', 'der'] as const) : (['der'] as const);
  return encodings.some((dsaEncoding) => verify('sha256', input, { key, dsaEncoding }, signature));
}

/** The bytes of base64 (RFC 4648 section 4), which tools may have wrapped in lines; undefined for what is none. */
function decodeBase64(text: string): Buffer | undefined {
  const compact = text.replaceAll(/\s/g, '');
  const bytes = Buffer.from(compact, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === compact ? bytes : undefined;
}
