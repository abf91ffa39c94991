import { getSystemErrorMessage } from 'node:util';
import { systemCode } from '#base/errors.ts';
import { type ErrorCode, RailheadError } from '#contract/errors.ts';

const codes: Record<string, ErrorCode> = {
  ENOENT: 'NOT_FOUND',
  EADDRINUSE: 'CONFLICT',
  EACCES: 'FORBIDDEN',
  EPERM: 'FORBIDDEN',
  ENOSPC: 'UNAVAILABLE',
};

/**
 * A failure that the command line itself caused, as an error that says so: a file that is not there, an address that is taken,
 * a text that is no URL. Any other error is returned as it is.
 */
export function explained(error: unknown): unknown {
  const code = systemCode(error);
  if (code === undefined) return error;
  const facts = error as NodeJS.ErrnoException & { address?: string; port?: number; input?: string };
  if (code === 'ERR_INVALID_URL')
    return new RailheadError('INVALID_INPUT', `${facts.input} is not a URL`, { reason: 'url' }, error);
  const place = facts.path ?? (facts.address === undefined ? undefined : `${facts.address}:${facts.port}`);
  if (facts.errno === undefined || place === undefined) return error;
  const message = `${place}: ${getSystemErrorMessage(facts.errno)}`;
  return new RailheadError(codes[code] ?? 'INVALID_INPUT', message, { path: place, reason: code }, error);
}
