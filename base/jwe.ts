import type { KeyObject } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';

/** Seals a text to the holder of an X25519 key as a compact JWE (RFC 7516, ECDH-ES of RFC 8037). `typ` says what it is. */
export function sealText(typ: string, text: string, key: KeyObject): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', typ })
    .encrypt(key);
}

/**
 * The text of a compact JWE that was sealed to this private key.
 * @throws jose's errors for anything else, or an Error when `typ` differs
 */
export async function openText(typ: string, jwe: string, key: KeyObject): Promise<string> {
  const { plaintext, protectedHeader } = await compactDecrypt(jwe, key, {
    keyManagementAlgorithms: ['ECDH-ES'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  if (protectedHeader.typ !== typ) throw new Error(`expected a sealed ${typ}, got ${protectedHeader.typ}`);
  return new TextDecoder().decode(plaintext);
}
