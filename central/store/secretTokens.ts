import { createHash, randomBytes } from 'node:crypto';

/** A new bearer secret: 256 random bits behind a prefix that says what it opens. It is shown once and never stored. */
export function newSecretToken(prefix: 'rht' | 'rhj'): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** What is stored of a secret token. Its 256 random bits need no slow hash. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
