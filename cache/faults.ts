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

/** Which of the two bounds left no room decides what there is to do. */
export function noRoom(
  neededBytes: number | undefined,
  limit: 'quota' | 'disk',
  facts: Record<string, unknown> = {},
): RailheadError {
  const what = neededBytes === undefined ? 'this image' : `${neededBytes} bytes`;
  const remedy =
    limit === 'quota'
      ? 'raise the quota of its cache or desire fewer images there'
      : 'free the disk of its cache or desire fewer images there';
  return new RailheadError('DRIVER_ERROR', `the site has no room for ${what}: ${remedy}`, {
    reason: 'no-space',
    limit,
    ...(neededBytes !== undefined && { neededBytes }),
    ...facts,
  });
}
