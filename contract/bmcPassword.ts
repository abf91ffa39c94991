import Type, { type Static } from 'typebox';
import { RailheadError } from './errors.ts';

const length = Type.Integer({ minimum: 0 });

/** What `bmc.readAccount` returns. */
export const BmcAccount = Type.Object({
  /** As whom the site logs in. */
  username: Type.String({ pattern: '^[^:\\r\\n]{1,128}$' }),
  /** Which of the passwords that the site has for it the BMC takes; `next` is one whose change nobody saw the end of. */
  works: Type.Enum(['current', 'next']),
  /** Of `next`, the secret that it is. */
  secretId: Type.Optional(Type.String()),
  /** How long a password may be, where the BMC says so. */
  minLength: Type.Optional(length),
  maxLength: Type.Optional(length),
});
export type BmcAccount = Static<typeof BmcAccount>;

/**
 * What a failed `bmc.setPassword` says in `details.works`: `current` when the BMC has refused the next password and takes the one before, so
 * that the next one can be forgotten; `unknown` when neither is known to work. Without it both are kept, and the one before works.
 */
export type AfterFailure = 'current' | 'unknown';

/** The BMC has said no, and takes the password of before: `failure` says why. */
export function passwordRefused({ message, details }: RailheadError): RailheadError {
  const works: AfterFailure = 'current';
  const words = `the BMC does not take the new password, the one before still works: ${message}`;
  return new RailheadError('DRIVER_ERROR', words, { ...details, reason: 'password-refused', works });
}

/**
 * The BMC takes us as another user than the one whose password is to change: the node's secret was set meanwhile. That user would be left with
 * a password that is kept nowhere under its name.
 */
export function anotherUser(found: string, wanted: string): RailheadError {
  const works: AfterFailure = 'current';
  const words = `the BMC takes Railhead as ${found} now, and the new password is for ${wanted}: nothing was sent; rotate once more`;
  return new RailheadError('DRIVER_ERROR', words, { reason: 'another-user', works });
}

/** The BMC has said yes, and takes the password of before. */
export function passwordNotStored(): RailheadError {
  const words =
    'the BMC accepted a new password and did not keep it: the one before still works; rotate once more, or update its firmware';
  return new RailheadError('DRIVER_ERROR', words, { reason: 'not-stored' });
}

/** It cannot be asked, or takes neither. */
export function passwordUnknown(cause: unknown): RailheadError {
  const works: AfterFailure = 'unknown';
  const why = cause instanceof Error ? cause.message : String(cause);
  const words = `nobody knows which password the BMC has now; the old and the new one are kept, and each login tries both: rotate once more when it can be reached (${why})`;
  return new RailheadError('DRIVER_ERROR', words, { reason: 'password-unknown', works }, cause);
}
