import { RailheadError } from '#contract/errors.ts';

/** IPMI 2.0 §22.28 and §22.29: bytes that a user's name and password have at most. */
const longest = { username: 16, password: 20 } as const;

/**
 * What IPMI cannot carry is said before anything is sent: ipmitool reads a password to the end of its first line, so that another one would be
 * tried, and the account be locked.
 * @throws RailheadError INVALID_CONFIG, reason `username-length`, `password-length` or `credential-characters`
 */
export function checkCredentials(credentials: { username: string; password: string }): void {
  for (const name of ['username', 'password'] as const) {
    const value = credentials[name];
    if (value === '' || Buffer.byteLength(value) > longest[name])
      throw unusable(`an IPMI ${name} has 1 to ${longest[name]} bytes: set another one`, `${name}-length`);
    if (/\p{Cc}/u.test(value))
      throw unusable(
        `the IPMI ${name} has a control character in it: set another one`,
        'credential-characters',
      );
  }
}

function unusable(message: string, reason: string): RailheadError {
  return new RailheadError('INVALID_CONFIG', message, { path: 'credentialRef', reason });
}
