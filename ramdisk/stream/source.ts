import type { Agent, Dispatcher } from 'undici';
import { backoffMs } from '#base/backoff.ts';
import { type Clock, steadyClock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { judge, sizeMismatch, sourceError, type Verdict, withoutQuery } from './answer.ts';
import { ask, type OpenedAnswer, type SourceOptions, sourceAgent } from './request.ts';

/** Where a place is, and the connection that it is to be read over; without one any that believes the public CAs and the options'. */
export interface Located {
  url: string;
  dispatcher?: Dispatcher;
}

/** One place that has the artifact. */
export interface Place {
  kind: 'site' | 'origin';
  /** Of a place that is to be located: what it is called. */
  url: string;
  /** Says before each request where it is now, and over what it is to be read. */
  locate?(): Promise<Located>;
}

export interface ArtifactOptions extends SourceOptions {
  /** In the order in which they are asked; the next one only when one does not have the artifact. */
  places: readonly Place[];
  /** The catalog's size of the artifact as stored. */
  sizeBytes?: number | undefined;
  /** Until when, by `clock`, the first byte may be waited for. */
  deadline: number;
  /** Milliseconds without a byte after which a stream that had begun is given up; at most a minute where another place is left. */
  patienceMs?: number;
  /** Told why nothing arrives. */
  onWait(why: string, kind: Place['kind']): void;
  signal: AbortSignal;
  clock?: Clock;
}

/** How far the reading of an artifact is; changes while it is read. */
export interface ArtifactState {
  receivedBytes: number;
  totalBytes: number | undefined;
  from: Place['kind'];
}

export interface Artifact {
  readonly state: ArtifactState;
  /** The artifact as stored, from its first byte to its last, each once; to be read once. */
  bytes(): AsyncGenerator<Buffer>;
}

const limits = { firstMs: 200, maxMs: 5000 };
const fiveMinutes = 300_000;
/** A place that has fallen silent is left so soon, in milliseconds, when another has the artifact too: longer than an agent's restart. */
const patienceBeforeNextMs = 60_000;

/**
 * An artifact that is read over HTTP, however often the connection breaks or its server restarts: each new request goes on at the byte
 * reached. Ends only when every byte that the server declared has arrived; whether they are the right ones the digest says.
 */
export function openArtifact(options: ArtifactOptions): Artifact {
  const state: ArtifactState = {
    receivedBytes: 0,
    totalBytes: options.sizeBytes,
    from: options.places[0]?.kind ?? 'origin',
  };
  return { state, bytes: () => read(options, state) };
}

async function* read(options: ArtifactOptions, state: ArtifactState): AsyncGenerator<Buffer> {
  const agent = sourceAgent(options);
  const clock = options.clock ?? steadyClock;
  let last: RailheadError | undefined;
  try {
    for (const [index, place] of options.places.entries()) {
      state.from = place.kind;
      const isLast = index === options.places.length - 1;
      const now = clock.now();
      const fresh = { isLast, etag: undefined, plain: false, failures: 0, beganAt: now, aliveAt: now };
      const refused = yield* readFrom({ place, agent, options, state, clock, ...fresh });
      if (refused === undefined) return;
      last = refused;
    }
    throw last ?? new RailheadError('INVALID_INPUT', 'the image has no source', { path: 'sources' });
  } finally {
    await agent.destroy();
  }
}

/** The reading from one place, and what is remembered of it between requests. */
interface Reading {
  place: Place;
  /** No other place is left to ask. */
  readonly isLast: boolean;
  readonly agent: Agent;
  readonly options: ArtifactOptions;
  readonly state: ArtifactState;
  readonly clock: Clock;
  etag: string | undefined;
  /** Ask without a range: this server answers none right. */
  plain: boolean;
  failures: number;
  /** When the place was first asked. */
  beganAt: number;
  /** When a byte last arrived; before the first, when the place last asked for time. */
  aliveAt: number;
}

type Body = OpenedAnswer['body'];

/** Reads from one place to the end; returns why it cannot be read from there when another place may. */
async function* readFrom(reading: Reading): AsyncGenerator<Buffer, RailheadError | undefined> {
  for (;;) {
    const { verdict, body } = await tryOnce(reading);
    if (verdict.kind === 'take') {
      const broken = yield* take(body, verdict, reading);
      if (broken === undefined) return undefined;
      const givenUp = await pause({ kind: 'again', plain: reading.plain, why: broken }, reading);
      if (givenUp !== undefined) return givenUp;
      continue;
    }
    body?.on('error', ignore).destroy();
    if (verdict.kind === 'complete') return undefined;
    if (verdict.kind === 'next') return verdict.error;
    if (verdict.kind === 'fail') throw verdict.error;
    if (verdict.kind === 'again' && verdict.plain && reading.plain)
      return sourceError(reading.place, 'range', verdict.why);
    const givenUp = await pause(verdict, reading);
    if (givenUp !== undefined) return givenUp;
  }
}

/** Where the place is for the next request; what is said of it from here on names that. */
async function located(reading: Reading): Promise<Located> {
  const { place } = reading;
  const found = await place.locate?.();
  if (found !== undefined) reading.place = { ...place, url: found.url };
  return found ?? { url: place.url };
}

async function tryOnce(reading: Reading): Promise<{ verdict: Verdict; body?: Body }> {
  const { place, agent, options, state, etag, plain } = reading;
  const { signal } = options;
  const { receivedBytes: offset, totalBytes } = state;
  try {
    const { url, dispatcher = agent } = await located(reading);
    const { answer, body } = await ask(dispatcher, url, offset, { plain, etag, signal });
    const asked = { place: place.kind, url, offset, totalBytes, etag, now: Date.now() };
    return { verdict: judge(answer, asked), body };
  } catch (error) {
    signal.throwIfAborted();
    if (hasCode(error, 'DRIVER_ERROR')) return { verdict: { kind: 'next', error } };
    return { verdict: { kind: 'again', plain, why: (error as Error).message } };
  }
}

/** Yields the bytes of one answer; returns undefined when the artifact is whole, else why the answer ended before. */
async function* take(
  body: Body | undefined,
  verdict: Verdict & { kind: 'take' },
  reading: Reading,
): AsyncGenerator<Buffer, string | undefined> {
  const { state, options } = reading;
  state.totalBytes ??= verdict.totalBytes;
  reading.etag ??= verdict.etag;
  let left = verdict.skip;
  try {
    for await (const part of (body ?? []) as AsyncIterable<Buffer>) {
      const fresh = part.subarray(Math.min(left, part.length));
      left -= part.length - fresh.length;
      if (fresh.length === 0) continue;
      count(fresh, reading);
      yield fresh;
    }
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof RailheadError) throw error;
    return (error as Error).message;
  }
  const whole = state.totalBytes === undefined || state.receivedBytes >= state.totalBytes;
  return whole && left === 0 ? undefined : 'the connection ended before the last byte';
}

/** @throws RailheadError DRIVER_ERROR (`reason` size-mismatch) for a byte too many */
function count(fresh: Buffer, reading: Reading): void {
  const { state, place, clock } = reading;
  reading.failures = 0;
  reading.aliveAt = clock.now();
  state.receivedBytes += fresh.length;
  if (state.totalBytes !== undefined && state.receivedBytes > state.totalBytes)
    throw sizeMismatch(place, state.totalBytes, state.receivedBytes);
}

/**
 * Waits before the next request, or gives up and returns why: a place that asks for time before the first byte, such as a site that still
 * pulls the image, has until the deadline, or five minutes where another place is left; else `patienceMs` of silence are the end of it.
 * @throws RailheadError UNAVAILABLE, reason `no-bytes`, at the deadline
 */
async function pause(
  verdict: Verdict & { kind: 'wait' | 'again' },
  reading: Reading,
): Promise<RailheadError | undefined> {
  const { options, state, clock, place, isLast } = reading;
  const asksForTime = verdict.kind === 'wait' && state.receivedBytes === 0;
  reading.failures++;
  if (verdict.kind === 'again') reading.plain = verdict.plain;
  if (asksForTime) reading.aliveAt = clock.now();
  const ms = verdict.kind === 'wait' ? verdict.ms : backoffMs(reading.failures, limits);
  if (clock.now() + ms > (asksForTime ? longestWait(reading) : longestSilence(reading))) {
    if (asksForTime && isLast) throw silent(place, verdict.why);
    return silent(place, verdict.why);
  }
  options.onWait(verdict.why, place.kind);
  await clock.sleep(ms, options.signal);
  return undefined;
}

function longestWait({ options, isLast, beganAt }: Reading): number {
  return isLast ? options.deadline : Math.min(options.deadline, beganAt + fiveMinutes);
}

function longestSilence({ options, isLast, aliveAt }: Reading): number {
  const longest = isLast ? Number.POSITIVE_INFINITY : patienceBeforeNextMs;
  return aliveAt + Math.min(options.patienceMs ?? fiveMinutes, longest);
}

function silent(place: Place, why: string): RailheadError {
  const source = withoutQuery(place.url);
  return new RailheadError('UNAVAILABLE', `no bytes of the image came from ${source} in time: ${why}`, {
    reason: 'no-bytes',
    source,
    cause: why,
  });
}
