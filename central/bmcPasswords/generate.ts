import { randomInt } from 'node:crypto';
import type { BmcAccount } from '#contract/bmcPassword.ts';
import { RailheadError } from '#contract/errors.ts';

/** What no rule of a BMC and no keyboard at a rack is troubled by: neither characters that look alike, nor any that a shell or a BMC reads. */
const kinds = ['ABCDEFGHJKLMNPQRSTUVWXYZ', 'abcdefghijkmnpqrstuvwxyz', '23456789'] as const;
const letters = kinds.join('');
const special = '-';

/** Fits IPMI 1.5, and is about 90 bits of chance. */
const usualLength = 16;
const [shortest, longest] = [8, 64];

/**
 * How long a new password is: 16 characters unless the BMC wants another length. Bounds that contradict each other are none.
 * @throws RailheadError UNSUPPORTED, reason `password-length`, for a BMC that takes less than 8 or wants more than 64
 */
export function passwordLength({
  minLength = 0,
  maxLength = longest,
}: Pick<BmcAccount, 'minLength' | 'maxLength'>): number {
  if (maxLength < minLength) return usualLength;
  const length = Math.min(Math.max(usualLength, minLength), maxLength);
  if (length >= shortest && length <= longest) return length;
  throw new RailheadError(
    'UNSUPPORTED',
    `the BMC takes passwords of ${minLength} to ${maxLength} characters; Railhead makes none shorter than ${shortest} or longer than ${longest}`,
    { reason: 'password-length', minLength, maxLength },
  );
}

/** A password by chance: upper case, lower case, a digit and one `-` inside; no two equal characters in a row, which some BMCs refuse. */
export function newPassword(length: number): string {
  for (;;) {
    const characters = Array.from({ length }, () => letters[randomInt(letters.length)]);
    characters[randomInt(1, length - 1)] = special;
    const password = characters.join('');
    if (isVaried(password)) return password;
  }
}

function isVaried(password: string): boolean {
  return kinds.every((kind) => [...password].some((one) => kind.includes(one))) && !/(.)\1/.test(password);
}
