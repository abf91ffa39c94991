import { diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

/**
 * Seals a text to the holder of an X25519 key as a compact JWE (RFC 7516, ECDH-ES of RFC 8037). `typ` says what it is. `party` goes
 * into the key agreement (`apu`, RFC 7518 section 4.6.1.2): readable by everyone, and not to be exchanged without the text.
 */
export function sealText(typ: string, text: string, key: KeyObject, party?: Buffer): Promise<string> {
  const sealing = new CompactEncrypt(new TextEncoder().encode(text));
  if (party !== undefined) sealing.setKeyManagementParameters({ apu: party });
  return sealing.setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', typ }).encrypt(key);
}

/**
 * The text of a compact JWE that was sealed to this private key.
 * @throws jose's errors for anything else, or an Error when `typ` differs
 */
export async function openText(typ: string, jwe: string, key: KeyObject): Promise<string> {
  return (await openSealed(typ, jwe, key)).text;
}

/** The same with the party that it was sealed for, when the sealer named one. */
export async function openSealed(
  typ: string,
  jwe: string,
  key: KeyObject,
): Promise<{ text: string; party: Buffer | undefined }> {
  const { plaintext, protectedHeader } = await compactDecrypt(jwe, key, {
    keyManagementAlgorithms: ['ECDH-ES'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  if (protectedHeader.typ !== typ) throw new Error(`expected a sealed ${typ}, got ${protectedHeader.typ}`);
  const { apu } = protectedHeader;
  return {
    text: new TextDecoder().decode(plaintext),
    party: typeof apu === 'string' ? Buffer.from(apu, 'base64url') : undefined,
  };
}

/** Whether anything can be sealed to an X25519 key: a point of low order (RFC 7748 section 6.1) agrees with nobody. */
export function canSealTo(publicKey: KeyObject): boolean {
  const { privateKey } = generateKeyPairSync('x25519');
  try {
    diffieHellman({ privateKey, publicKey });
    return true;
  } catch {
    return false;
  }
}
