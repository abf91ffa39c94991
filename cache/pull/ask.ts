import { type Dispatcher, request } from 'undici';
import { refusedRedirect } from '../faults.ts';
import type { Asked } from './answer.ts';
import type { Authorizer } from './authorizer.ts';
import { drop, type HttpAnswer, header } from './httpAnswer.ts';
import { isRedirect, nextHop, publicPart, redirectLimit } from './redirects.ts';

/** So much may arrive while both pieces of `GatheredWrites` wait for the disk, before the source is held up. */
const bufferBytes = 1024 * 1024;

export interface Source {
  url: URL;
  authorizer: Authorizer;
  dispatcher: Dispatcher;
  signal: AbortSignal;
}

/** Asks a source for what is missing. A refusal is answered once, by what the authorizer can show then. */
export async function ask(source: Source, asked: Asked): Promise<HttpAnswer> {
  const answer = await follow(source, asked);
  if (answer.statusCode !== 401) return answer;
  const challenge = header(answer, 'www-authenticate');
  if (!(await source.authorizer.renew(challenge, source.signal))) return answer;
  await drop(answer);
  return follow(source, asked);
}

/** @throws RailheadError DRIVER_ERROR, reason `redirect` */
async function follow(
  { authorizer, dispatcher, signal, ...source }: Source,
  asked: Asked,
): Promise<HttpAnswer> {
  let { url } = source;
  for (let hop = 0; hop <= redirectLimit; hop++) {
    const headers = { ...authorizer.headersFor(url), ...rangeHeaders(asked) };
    const answer = await request(url, { headers, dispatcher, signal, highWaterMark: bufferBytes });
    if (!isRedirect(answer.statusCode)) return answer;
    await drop(answer);
    const next = nextHop(url, header(answer, 'location'));
    if (typeof next === 'string') throw refusedRedirect(publicPart(url), next);
    url = next;
  }
  throw refusedRedirect(publicPart(source.url), `more than ${redirectLimit} hops`);
}

function rangeHeaders({ offset, validator }: Asked): Record<string, string> {
  return {
    'accept-encoding': 'identity',
    ...(offset > 0 && { range: `bytes=${offset}-` }),
    ...(offset > 0 && validator !== undefined && { 'if-range': validator }),
  };
}
