import type { Agent } from 'undici';
import { backoffMs } from '#base/backoff.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { judge, sizeMismatch, sourceError, type Verdict, withoutQuery } from './answer.ts';
import { ask, type OpenedAnswer, type SourceOptions, sourceAgent } from './request.ts';

/** One place that has the artifact. */
export interface Place {
  kind: 'site' | 'origin';
  url: string;
}

export interface ArtifactOptions extends SourceOptions {
  /** In the order in which they are asked; the next one only when one does not have the artifact. */
  places: readonly Place[];
  /** The catalog's size of the artifact as stored. */
  sizeBytes?: number | undefined;
  /** Milliseconds since the epoch until which the first byte may be waited for. */
  deadline: number;
  /** Milliseconds without a byte after which a stream that had begun is given up. */
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
  let last: RailheadError | undefined;
  try {
    for (const place of options.places) {
      state.from = place.kind;
      const refused = yield* readFrom(place, agent, options, state);
      if (refused === undefined) return;
      last = refused;
    }
    throw last ?? new RailheadError('INVALID_INPUT', 'the image has no source', { path: 'sources' });
  } finally {
    await agent.destroy();
  }
}

/** What one place is remembered by between requests. */
interface Attempts {
  etag: string | undefined;
  plain: boolean;
  failures: number;
  /** When a byte last arrived; before the first, when the place last asked for time. */
  aliveAt: number;
}

/** Reads from one place to the end; returns why it cannot be read from there when another place may. */
async function* readFrom(
  place: Place,
  agent: Agent,
  options: ArtifactOptions,
  state: ArtifactState,
): AsyncGenerator<Buffer, RailheadError | undefined> {
  const clock = options.clock ?? systemClock;
  const attempts: Attempts = { etag: undefined, plain: false, failures: 0, aliveAt: clock.now() };
  for (;;) {
    const { verdict, body } = await tryOnce(place, agent, options, state, attempts, clock);
    if (verdict.kind === 'take') {
      const broken = yield* take(body, verdict, place, options, state, attempts, clock);
      if (broken === undefined) return undefined;
      const again = { kind: 'again', plain: attempts.plain, why: broken } as const;
      await pause(again, place, options, state, attempts, clock);
      continue;
    }
    body?.on('error', () => {}).destroy();
    if (verdict.kind === 'complete') return undefined;
    if (verdict.kind === 'next') return verdict.error;
    if (verdict.kind === 'fail') throw verdict.error;
    if (verdict.kind === 'follow') return sourceError(place, 'redirect', 'it redirects nowhere');
    if (verdict.kind === 'again' && verdict.plain && attempts.plain)
      return sourceError(place, 'range', verdict.why);
    await pause(verdict, place, options, state, attempts, clock);
  }
}

type Tried = { verdict: Verdict; body?: undefined } | { verdict: Verdict; body: OpenedAnswer['body'] };

async function tryOnce(
  place: Place,
  agent: Agent,
  { signal }: ArtifactOptions,
  state: ArtifactState,
  { etag, plain }: Attempts,
  clock: Clock,
): Promise<Tried> {
  const offset = state.receivedBytes;
  try {
    const { answer, body } = await ask(agent, place.url, offset, { plain, etag, signal });
    const asked = { place: place.kind, url: place.url, offset, totalBytes: state.totalBytes, etag };
    return { verdict: judge(answer, { ...asked, now: clock.now() }), body };
  } catch (error) {
    signal.throwIfAborted();
    if (hasCode(error, 'DRIVER_ERROR')) return { verdict: { kind: 'next', error } };
    return { verdict: { kind: 'again', plain, why: (error as Error).message } };
  }
}

/** Yields the bytes of one answer; returns undefined when the artifact is whole, else why the answer ended before. */
async function* take(
  body: OpenedAnswer['body'] | undefined,
  { skip, totalBytes, etag }: Verdict & { kind: 'take' },
  place: Place,
  options: ArtifactOptions,
  state: ArtifactState,
  attempts: Attempts,
  clock: Clock,
): AsyncGenerator<Buffer, string | undefined> {
  state.totalBytes ??= totalBytes;
  attempts.etag ??= etag;
  let left = skip;
  let broken = 'the connection ended before the last byte';
  try {
    for await (const part of body ?? []) {
      const fresh = (part as Buffer).subarray(Math.min(left, (part as Buffer).length));
      left -= (part as Buffer).length - fresh.length;
      if (fresh.length === 0) continue;
      attempts.failures = 0;
      attempts.aliveAt = clock.now();
      state.receivedBytes += fresh.length;
      if (state.totalBytes !== undefined && state.receivedBytes > state.totalBytes)
        throw sizeMismatch(place, state.totalBytes, state.receivedBytes);
      yield fresh;
    }
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof RailheadError) throw error;
    broken = (error as Error).message;
    return broken;
  }
  const whole = state.totalBytes === undefined || state.receivedBytes >= state.totalBytes;
  return whole && left === 0 ? undefined : broken;
}

/** Waits before the next request, or gives up: a place that asks for time before the first byte has until the deadline, else `patienceMs` of silence are the end. */
async function pause(
  verdict: Verdict & { kind: 'wait' | 'again' },
  place: Place,
  options: ArtifactOptions,
  state: ArtifactState,
  attempts: Attempts,
  clock: Clock,
): Promise<void> {
  const { patienceMs = fiveMinutes, deadline, signal } = options;
  const asksForTime = verdict.kind === 'wait' && state.receivedBytes === 0;
  attempts.failures++;
  if (verdict.kind === 'again') attempts.plain = verdict.plain;
  if (asksForTime) attempts.aliveAt = clock.now();
  const ms = verdict.kind === 'wait' ? verdict.ms : backoffMs(attempts.failures, limits);
  const until = asksForTime ? deadline : attempts.aliveAt + patienceMs;
  if (clock.now() + ms > until) throw silent(place, verdict.why);
  options.onWait(verdict.why, place.kind);
  await clock.sleep(ms, signal);
}

function silent(place: Place, why: string): RailheadError {
  const source = withoutQuery(place.url);
  return new RailheadError('UNAVAILABLE', `no bytes of the image came from ${source} in time: ${why}`, {
    reason: 'no-bytes',
    source,
    cause: why,
  });
}
