import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import { ignore } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { BmcRefusal } from '../answers.ts';
import type { RedfishClient } from '../client.ts';
import { type Json, parseBody } from '../json.ts';
import { BmcUnreachable } from '../transport.ts';
import { SseReader } from './sse.ts';

export interface StreamOptions {
  /** Where an earlier stream ended. */
  lastEventId?: string | undefined;
  onEvent(body: Json | undefined): void;
  /** After which silence the stream is taken for dead, in milliseconds. */
  silentMs?: number;
}

/** An open stream. */
export interface EventStream {
  /** Why it ended: `closed` by us, `ended` by the BMC, `silent`, or `broken`. */
  ended: Promise<'closed' | 'ended' | 'silent' | 'broken'>;
  /** What a new stream goes on from. */
  lastEventId(): string | undefined;
  close(): void;
}

/** BMCs may say nothing for days. An open TCP connection is tried by the kernel; this finds a service that forgot us. */
const silentMs = 600_000;
/** From the first request to the headers of the stream, however slowly they come. */
const openingMs = 60_000;
const longestRefusal = 16 * 1024;
const refusalMs = 5000;
/** What is read of one stream, in bytes a second, after a first burst: a BMC that never stops talking has to wait, and the site's other work has not. */
const pace = { perSecond: 64 * 1024, burst: 1024 * 1024 };

/**
 * Asks a BMC for its stream of events, by the first of `paths` that is not refused. It is on a connection of its own, with the session that all
 * requests share.
 * @throws BmcRefusal, BmcUnreachable, RailheadError DRIVER_ERROR of the credentials or the pin
 */
export async function openEventStream(
  client: RedfishClient,
  paths: readonly [string, ...string[]],
  options: StreamOptions,
): Promise<EventStream> {
  const stop = new AbortController();
  const headers = {
    accept: 'text/event-stream',
    'accept-encoding': 'identity',
    'cache-control': 'no-cache',
    ...(options.lastEventId !== undefined && { 'last-event-id': options.lastEventId }),
  };
  const late = setTimeout(() => stop.abort(), openingMs);
  try {
    const { path, answer } = await firstTaken(paths, (one) => client.stream(one, headers, stop.signal));
    await mustStream(path, answer);
    return follow(answer.body, options, stop);
  } finally {
    clearTimeout(late);
  }
}

/** The first answer that is no refusal, or the last refusal. What a refusal says is not waited for: it may never end. */
async function firstTaken(
  [path, ...others]: readonly [string, ...string[]],
  ask: (path: string) => Promise<Dispatcher.ResponseData>,
): Promise<{ path: string; answer: Dispatcher.ResponseData }> {
  const answer = await ask(path);
  const [next, ...rest] = others;
  if (next === undefined || answer.statusCode < 400 || answer.statusCode >= 500) return { path, answer };
  answer.body.destroy();
  return firstTaken([next, ...rest], ask);
}

/** One request for a stream. @throws BmcUnreachable; RailheadError `pin-mismatch` */
export async function requestStream(
  dispatcher: Dispatcher,
  origin: string,
  path: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  try {
    const answer = await request(origin + path, { method: 'GET', dispatcher, headers, signal });
    // Whoever ends it in the middle makes an error of it that nobody else hears.
    answer.body.on('error', ignore);
    return answer;
  } catch (error) {
    throw error instanceof RailheadError ? error : new BmcUnreachable(origin, error);
  }
}

async function mustStream(path: string, answer: Dispatcher.ResponseData): Promise<void> {
  const { statusCode: status, headers, body } = answer;
  if (status === 200 && String(headers['content-type'] ?? '').includes('text/event-stream')) return;
  const text = await firstWords(body);
  throw new BmcRefusal('GET', path, { status, headers: {}, body: parseBody(text), text });
}

/** What a refusal says, within bounds: a BMC may take its answer for a stream that never ends. */
async function firstWords(body: Dispatcher.ResponseData['body']): Promise<string> {
  const late = setTimeout(() => body.destroy(), refusalMs);
  let text = '';
  try {
    for await (const piece of body) {
      text += piece;
      if (text.length > longestRefusal) break;
    }
  } catch {
    // What came until then is enough.
  } finally {
    clearTimeout(late);
    body.destroy();
  }
  return text.slice(0, longestRefusal);
}

function follow(
  body: Dispatcher.ResponseData['body'],
  options: StreamOptions,
  stop: AbortController,
): EventStream {
  const reader = new SseReader();
  reader.lastEventId = options.lastEventId;
  let isClosed = false;
  return {
    ended: readAll(body, reader, options, stop).then((why) => (isClosed ? 'closed' : why)),
    lastEventId: () => reader.lastEventId,
    close: () => {
      isClosed = true;
      stop.abort();
      body.destroy();
    },
  };
}

async function readAll(
  body: Dispatcher.ResponseData['body'],
  reader: SseReader,
  { onEvent, silentMs: limitMs = silentMs }: StreamOptions,
  stop: AbortController,
): Promise<'ended' | 'silent' | 'broken'> {
  const decoder = new TextDecoder();
  let isSilent = false;
  const silence = setTimeout(() => {
    isSilent = true;
    stop.abort();
  }, limitMs);
  try {
    let readAllAt = 0;
    for await (const piece of body) {
      silence.refresh();
      readAllAt = Math.max(readAllAt, Date.now()) + (1000 * piece.length) / pace.perSecond;
      for (const { data } of reader.feed(decoder.decode(piece, { stream: true }))) onEvent(parseBody(data));
      const aheadMs = readAllAt - Date.now() - (1000 * pace.burst) / pace.perSecond;
      if (aheadMs > 0) await delay(aheadMs, undefined, { signal: stop.signal });
    }
    return 'ended';
  } catch {
    return isSilent ? 'silent' : 'broken';
  } finally {
    clearTimeout(silence);
    body.destroy();
  }
}
