import { visible } from '#base/visible.ts';
import { RailheadError } from '#contract/errors.ts';

/** The error that a failure of ssh2 is told by. `host` is of the BMC. */
export function sshError(error: Error & { level?: string; code?: string }, host: string): RailheadError {
  if (error instanceof RailheadError) return error;
  // A server may end a connection with words of its own.
  const words = visible(error.message).slice(0, 300);
  if (error.level === 'client-authentication')
    return told(
      'credentials-refused',
      `the SSH of ${host} refused user name or password: set the secret anew`,
      error,
    );
  if (/no matching/i.test(error.message))
    return told(
      'old-crypto',
      `the SSH of ${host} has only old algorithms (${words}): renew its firmware, or allow them by --bmc-old-tls`,
      error,
    );
  return told('unreachable', `the SSH of ${host} cannot be reached (${words}): check that it is on`, error);
}

export function wrongKey(host: string, expected: string, found: string): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the SSH of ${host} shows another host key than before: if the BMC was replaced or reset, run \`bcd site trust-bmc\`; if not, somebody stands in between`,
    { reason: 'pin-mismatch', expected, found },
  );
}

export function notEntered(host: string, words: string): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the SSH of ${host} did not hand over the serial port (${words === '' ? 'it said nothing' : words}): end who has it, and check that the user may`,
    { reason: 'console-refused' },
  );
}

function told(reason: string, message: string, cause: Error): RailheadError {
  return new RailheadError('DRIVER_ERROR', message, { reason }, cause);
}
