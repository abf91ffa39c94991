import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, request } from 'undici';
import { ignore } from '#base/errors.ts';
import { type Answer, sourceError, withoutQuery } from './answer.ts';

/** How sources are talked to. */
export interface SourceOptions {
  /** PEM of a CA that is believed beside the public ones. */
  ca?: string | undefined;
  /** A connection that brings nothing for so long is given up. */
  idleMs?: number | undefined;
}

const maxHops = 5;
const maxErrorText = 64 * 1024;

/** A dispatcher for artifact sources; the caller closes it. */
export function sourceAgent({ ca, idleMs = 30_000 }: SourceOptions): Agent {
  return new Agent({
    connect: { timeout: 10_000, ...(ca !== undefined && { ca: [...rootCertificates, ca] }) },
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    // Two bodies are never read at once on one connection, and an abandoned one is closed.
    pipelining: 1,
  });
}

export interface OpenedAnswer {
  answer: Answer;
  body: Dispatcher.ResponseData['body'];
}

/**
 * Asks for bytes from `offset` on, as stored: no encoding is accepted and none undone. Redirects are followed by hand, at most 5
 * and never from https to http; no credentials are sent anywhere, so that none can leak to another host.
 * @throws RailheadError DRIVER_ERROR for a redirect that is refused; undici's error when the connection fails
 */
export async function ask(
  agent: Dispatcher,
  url: string,
  offset: number,
  options: { plain: boolean; etag: string | undefined; signal: AbortSignal },
): Promise<OpenedAnswer> {
  const headers = requestHeaders(offset, options);
  let current = url;
  for (let hop = 0; ; hop++) {
    const { statusCode: status, headers: raw, body } = await send(agent, current, headers, options.signal);
    const flat = flatHeaders(raw);
    const location = flat.location;
    if (![301, 302, 303, 307, 308].includes(status) || location === undefined)
      return {
        answer: { status, headers: flat, text: status >= 300 ? await startOf(body) : '' },
        body,
      };
    body.on('error', ignore).destroy();
    if (hop === maxHops) throw sourceError({ url }, 'redirects', `it redirects more than ${maxHops} times`);
    current = nextUrl(current, location);
  }
}

function requestHeaders(offset: number, { plain, etag }: { plain: boolean; etag: string | undefined }) {
  return {
    'accept-encoding': 'identity',
    ...(!plain && { range: `bytes=${offset}-` }),
    ...(!plain && offset > 0 && etag !== undefined && { 'if-range': etag }),
  };
}

function send(agent: Dispatcher, url: string, headers: Record<string, string>, signal: AbortSignal) {
  return request(url, { method: 'GET', dispatcher: agent, headers, signal });
}

/** Where a redirect leads. */
function nextUrl(from: string, location: string): string {
  const next = URL.parse(location, from);
  if (next === null || !/^https?:$/.test(next.protocol))
    throw sourceError({ url: from }, 'redirect', 'it redirects to no http or https URL');
  if (from.startsWith('https:') && next.protocol === 'http:')
    throw sourceError(
      { url: from },
      'redirect',
      `it redirects from https to http (${withoutQuery(next.href)})`,
    );
  return next.href;
}

function flatHeaders(raw: Record<string, string | string[] | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

async function startOf(body: OpenedAnswer['body']): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      parts.push(part as Buffer);
      size += (part as Buffer).length;
      if (size >= maxErrorText) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(parts).toString('utf8', 0, maxErrorText);
}
