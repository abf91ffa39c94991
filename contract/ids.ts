import { randomBytes } from 'node:crypto';

/** Crockford's base 32 in lower case: no i, l, o, u. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** What an id names, by its prefix. */
export type IdPrefix =
  | 'img'
  | 'node'
  | 'wf'
  | 'op'
  | 'be'
  | 'site'
  | 'pool'
  | 'tok'
  | 'boot'
  | 'ev'
  | 'step'
  | 'sec'
  | 'rec';

/** A new id: the prefix, `_`, and a lower-case ULID (48 bits of milliseconds, 80 random bits). */
export function newId(prefix: IdPrefix, now: number = Date.now()): string {
  return `${prefix}_${timePart(now)}${randomPart()}`;
}

/** Text that sorts before each id made at `at` (milliseconds of the epoch) or later, and after each one made before. */
export function firstId(prefix: IdPrefix, at: number): string {
  return `${prefix}_${timePart(at)}`;
}

/** A TypeBox pattern for ids of one prefix, e.g. `^img_[0-9a-hjkmnp-tv-z]{26,52}$`. */
export function idPattern(prefix: IdPrefix): string {
  return `^${prefix}_[0-9a-hjkmnp-tv-z]{26,52}$`;
}

function timePart(now: number): string {
  let rest = now;
  let text = '';
  for (let digit = 0; digit < 10; digit++) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function randomPart(): string {
  return Array.from(randomBytes(16), (byte) => alphabet[byte & 31]).join('');
}
