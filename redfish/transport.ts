import type { Dispatcher } from 'undici';
import { systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Answer } from './answers.ts';
import { type Json, parseBody } from './json.ts';
import { isTimeout } from './limits.ts';

export interface Exchange {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: Json;
}

/** No connection came about, so nothing was sent. `cause` says why. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause });
    this.name = 'NotConnected';
  }
}

/** The network failed; `sent` says whether the BMC can have acted on the request. */
export class BmcUnreachable extends RailheadError {
  readonly sent: boolean;
  /**
   * Set once it was tried again as often as is sensible, so that what encloses those tries does not multiply
   * them.
   */
  triedEnough = false;

  constructor(origin: string, failure: unknown) {
    const cause = failure instanceof NotConnected ? failure.cause : failure;
    const code = systemCode(cause) ?? (isTimeout(cause) ? 'ETIMEDOUT' : 'network error');
    super('DRIVER_ERROR', unreachable(origin, code), { reason: 'unreachable', cause: code }, cause);
    this.name = 'BmcUnreachable';
    this.sent = !(failure instanceof NotConnected);
  }
}

function unreachable(origin: string, code: string): string {
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO')
    return `no TLS comes about with the BMC at ${origin} (${code}): check its address; if it has no better TLS, enroll it with bmc.oldTls`;
  return `the BMC at ${origin} cannot be reached (${code}): check its address, cable and power`;
}

const redirectLimit = 3;
/** From the first byte sent to the last byte of the answer, however slowly it drips. */
const exchangeLimitMs = 120_000;
/** No resource is that long; a BMC that does not end is not listened to. */
export const longestAnswer = 4 * 1024 * 1024;

/**
 * One request and its answer, redirects within the BMC followed with the same method: BMCs redirect to add or
 * to drop a trailing slash. Compression is declined because it makes a strong entity tag weak.
 * @param end ends it before its time
 * @throws BmcUnreachable; RailheadError DRIVER_ERROR, reason `pin-mismatch`, `redirect` or `malformed`; what `end` gives as its reason
 */
export async function exchange(
  dispatcher: Dispatcher,
  origin: string,
  one: Exchange,
  end?: AbortSignal,
): Promise<Answer> {
  let path = one.path;
  for (let hop = 0; hop <= redirectLimit; hop++) {
    const answer = await send(dispatcher, origin, { ...one, path }, end);
    if (![301, 302, 307, 308].includes(answer.status)) return answer;
    path = pathWithin(origin, answer.headers.location);
  }
  throw badRedirect(path);
}

async function send(
  dispatcher: Dispatcher,
  origin: string,
  { method, path, headers, body }: Exchange,
  end: AbortSignal | undefined,
): Promise<Answer> {
  const limit = AbortSignal.timeout(exchangeLimitMs);
  try {
    // By origin and path: a path that is none cannot make another host of it.
    const answer = await dispatcher.request({
      origin,
      path,
      method,
      signal: end === undefined ? limit : AbortSignal.any([end, limit]),
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'odata-version': '4.0',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: flat(answer.headers), body: parseBody(text), text };
  } catch (error) {
    if (error instanceof RailheadError) throw error;
    if (end?.aborted && !isTimeout(end.reason)) throw end.reason;
    throw systemCode(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE'
      ? tooLong(method, path)
      : new BmcUnreachable(origin, error);
  }
}

function tooLong(method: string, path: string): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the BMC's answer to ${method} ${path} is longer than ${longestAnswer >> 20} MiB and was not read: update its firmware`,
    { reason: 'malformed', path },
  );
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()[0] ?? '']));
}

/** The path of a URL that the BMC gave, as long as it stays on this BMC: its credentials are for no other. */
function pathWithin(origin: string, location: string | undefined): string {
  if (location === undefined || !URL.canParse(location, origin)) throw badRedirect(location);
  const url = new URL(location, origin);
  if (url.origin !== new URL(origin).origin) throw badRedirect(url.origin);
  return url.pathname + url.search;
}

/**
 * The path of a link. BMCs behind address translation write absolute links with a name of their own: only the
 * path is used. A link that is none, such as `mailto:x`, becomes a path that leads nowhere on this BMC.
 */
export function linkPath(origin: string, link: string): string {
  const url = URL.canParse(link, origin) ? new URL(link, origin) : undefined;
  if (url?.pathname.startsWith('/')) return url.pathname + url.search;
  return `/${encodeURIComponent(link.toWellFormed())}`;
}

function badRedirect(target: string | undefined): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the BMC redirects to ${target ?? 'nowhere'}, which is not followed: enroll it by the address that it wants to be called by`,
    { reason: 'redirect' },
  );
}
