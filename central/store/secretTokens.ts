import { hash, randomBytes } from 'node:crypto';

/** A new bearer secret: 256 random bits behind a prefix that says what it opens. It is shown once and never stored. */
export function newSecretToken(prefix: 'rht' | 'rhj'): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/**
 * What is stored of a secret token, and what one is looked up by. Its 256 random bits need no slow hash. The index compares hashes,
 * not in constant time: what that tells is how much of a hash was right, and nobody can choose a token by the beginning of its
 * SHA-256, so it brings no guesser closer to the token.
 */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex');
}
