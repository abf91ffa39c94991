import { type Dispatcher, request } from 'undici';
import { systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Answer } from './answers.ts';
import { type Json, parseBody } from './json.ts';

export interface Exchange {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: Json;
}

/** The network failed; `sent` says whether the BMC can have acted on the request. */
export class BmcUnreachable extends RailheadError {
  readonly sent: boolean;
  /**
   * Set once it was tried again as often as is sensible, so that what encloses those tries does not multiply
   * them.
   */
  triedEnough = false;

  constructor(origin: string, cause: unknown) {
    const code = systemCode(cause) ?? (isTimeout(cause) ? 'ETIMEDOUT' : 'network error');
    super(
      'DRIVER_ERROR',
      `the BMC at ${origin} cannot be reached (${code}): check its address, cable and power`,
      { reason: 'unreachable', cause: code },
      cause,
    );
    this.name = 'BmcUnreachable';
    this.sent = !neverSent.includes(code);
  }
}

const neverSent = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];
const redirectLimit = 3;
/** From the first byte sent to the last byte of the answer, however slowly it drips. */
const exchangeLimitMs = 120_000;

/**
 * One request and its answer, redirects within the BMC followed with the same method: BMCs redirect to add or
 * to drop a trailing slash. Compression is declined because it makes a strong entity tag weak.
 * @throws BmcUnreachable; RailheadError DRIVER_ERROR, reason `pin-mismatch` or `redirect`
 */
export async function exchange(dispatcher: Dispatcher, origin: string, one: Exchange): Promise<Answer> {
  let path = one.path;
  for (let hop = 0; hop <= redirectLimit; hop++) {
    const answer = await send(dispatcher, origin, { ...one, path });
    if (![301, 302, 307, 308].includes(answer.status)) return answer;
    path = pathWithin(origin, answer.headers.location);
  }
  throw badRedirect(path);
}

async function send(
  dispatcher: Dispatcher,
  origin: string,
  { method, path, headers, body }: Exchange,
): Promise<Answer> {
  try {
    const answer = await request(origin + path, {
      method,
      dispatcher,
      signal: AbortSignal.timeout(exchangeLimitMs),
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
    throw error instanceof RailheadError ? error : new BmcUnreachable(origin, error);
  }
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'TimeoutError';
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
 * path is used.
 */
export function linkPath(origin: string, link: string): string {
  if (!URL.canParse(link, origin)) return link;
  const url = new URL(link, origin);
  return url.pathname + url.search;
}

function badRedirect(target: string | undefined): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the BMC redirects to ${target ?? 'nowhere'}, which is not followed`,
    {
      reason: 'redirect',
    },
  );
}
