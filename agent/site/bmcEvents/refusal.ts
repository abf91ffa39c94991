import { RailheadError } from '#contract/errors.ts';

/** What a BMC has refused is asked for again after this, in milliseconds. */
export const askAgainMs = 600_000;
/** A BMC without what we listen by is asked again only when its firmware may have been renewed. */
export const never = 24 * 3_600_000;

const passing = ['unreachable', 'busy', 'credentials-refused', 'pin-mismatch'];

/** An answer that will be the same the next time, as far as that can be told. */
export function isRefusal(error: unknown): error is RailheadError {
  if (!(error instanceof RailheadError) || error.code !== 'DRIVER_ERROR') return false;
  return !passing.includes(String(error.details?.reason));
}
