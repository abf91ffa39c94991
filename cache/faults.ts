import { RailheadError } from '#contract/errors.ts';

/**
 * The ways in which a pull fails, each built in one place so that code, reason and figures stay the same
 * everywhere.
 */
export function digestMismatch(
  expected: string,
  found: string,
  facts: Record<string, unknown> = {},
): RailheadError {
  const page = facts.contentType === 'text/html' ? ' (the source answered a web page)' : '';
  return new RailheadError(
    'DRIVER_ERROR',
    `the source serves other bytes than the catalog registered: expected sha256 ${expected}, found ${found}${page}; fix the source or register the image again`,
    { reason: 'digest-mismatch', expected, found, ...facts },
  );
}

export function sizeMismatch(expectedBytes: number, foundBytes: number, source?: string): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the source has ${foundBytes} bytes, the catalog says ${expectedBytes}: fix the source or register the image again`,
    { reason: 'size-mismatch', expectedBytes, foundBytes, ...(source && { source }) },
  );
}

export function truncated(
  expectedBytes: number,
  foundBytes: number,
  source: string,
  cause?: unknown,
): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the source ended after ${foundBytes} of ${expectedBytes} bytes: check the source and the way to it`,
    { reason: 'truncated', expectedBytes, foundBytes, source },
    cause,
  );
}

export function unreachable(
  source: string,
  cause: string,
  facts: Record<string, unknown> = {},
  error?: unknown,
): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `${source} cannot be pulled (${cause}): check that the site can reach it`,
    { reason: 'unreachable', source, cause, ...facts },
    error,
  );
}

export function refusedRedirect(source: string, cause: string): RailheadError {
  return new RailheadError('DRIVER_ERROR', `${source} redirects in a way that is refused: ${cause}`, {
    reason: 'redirect',
    source,
    cause,
  });
}

export function noRoom(neededBytes: number, facts: Record<string, unknown>): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `no room for ${neededBytes} bytes in the cache: raise its quota, free its disk, or desire fewer images at this site`,
    { reason: 'no-space', neededBytes, ...facts },
  );
}
