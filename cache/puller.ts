import { abortable } from '#base/abortable.ts';
import { type BackoffLimits, backoffMs } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import type { CacheImage } from '#contract/images.ts';
import { PullTurns, Urgency } from './pullTurns.ts';
import { Rate } from './rate.ts';

/** One image that is to come into the cache. */
export interface PullState {
  readonly image: CacheImage;
  receivedBytes: number;
  /** Bytes a second, lately. */
  bytesPerSecond?: number;
  /** Why the last try failed; absent while a try waits for its slot or runs. */
  error?: Error;
  /** Milliseconds since the epoch; absent when no further try will help. */
  nextTryAt?: number;
}

interface Pull extends PullState {
  readonly stop: AbortController;
  /** Somebody waits for it. */
  readonly urgency: Urgency;
  rate: Rate;
  wake: AbortController;
  tried: PromiseWithResolvers<void>;
  ended: Promise<void>;
}

/** How a try tells how far it is, and is held back or ended. */
export interface PullFlow {
  /** Takes how many bytes are here. */
  onReceived: (bytes: number) => void;
  /** Waited for before more are taken: what is more urgent goes first. */
  pass: () => Promise<void>;
  signal: AbortSignal;
}

export interface PullerOptions {
  /** One try. */
  pullOnce: (image: CacheImage, flow: PullFlow) => Promise<void>;
  parallelPulls: number;
  /** The time of the day. */
  clock: Clock;
  /** For durations. */
  steady: Clock;
  onChange: () => void;
  onFailure: (image: CacheImage, error: Error, nextTryAt: number | undefined) => void;
}

/** Wrong content costs a whole download each time and mends itself rarely; a broken link mends itself often. */
const afterContentFault: BackoffLimits = { firstMs: 5000, maxMs: 300_000 };
const afterOtherFault: BackoffLimits = { firstMs: 2000, maxMs: 60_000 };

/**
 * Keeps trying to bring images in: one flight per digest, a bounded number at a time, with growing pauses after
 * failures.
 */
export class Puller {
  readonly #options: PullerOptions;
  readonly #turns: PullTurns;
  readonly #pulls = new Map<string, Pull>();

  constructor(options: PullerOptions) {
    this.#options = options;
    this.#turns = new PullTurns(options.parallelPulls);
  }

  begin(image: CacheImage): void {
    const pull: Pull = {
      image,
      receivedBytes: 0,
      stop: new AbortController(),
      urgency: new Urgency(),
      rate: new Rate(),
      wake: new AbortController(),
      tried: freshTry(),
      ended: Promise.resolve(),
    };
    this.#pulls.set(image.digest, pull);
    pull.ended = this.#keepTrying(pull);
  }

  /** Ends the tries for an image that is no longer wanted. */
  async stop(digest: string): Promise<void> {
    const pull = this.#pulls.get(digest);
    if (pull === undefined) return;
    this.#pulls.delete(digest);
    pull.stop.abort();
    await pull.ended;
  }

  /** The image came in another way: who waits for it has it, and its tries end. */
  async arrived(digest: string): Promise<void> {
    this.#pulls.get(digest)?.tried.resolve();
    await this.stop(digest);
  }

  get(digest: string): PullState | undefined {
    const pull = this.#pulls.get(digest);
    const bytesPerSecond = pull?.rate.bytesPerSecond(this.#options.steady.now());
    return pull && { ...pull, ...(bytesPerSecond !== undefined && { bytesPerSecond }) };
  }

  images(): Map<string, CacheImage> {
    return new Map([...this.#pulls].map(([digest, pull]) => [digest, pull.image]));
  }

  /**
   * The end of the current try, which goes before those that nobody waits for. A failed image that is asked for is tried again at once,
   * unless no try can help.
   */
  async outcome(digest: string, signal?: AbortSignal): Promise<void> {
    const pull = this.#pulls.get(digest);
    if (pull === undefined) return;
    pull.urgency.raise();
    if (pull.error !== undefined && pull.nextTryAt === undefined) throw pull.error;
    if (pull.error !== undefined) {
      renew(pull);
      pull.wake.abort();
    }
    await abortable(pull.tried.promise, signal).catch((error) => {
      if (signal?.aborted || !this.#isReplaced(pull)) throw error;
      return this.outcome(digest, signal);
    });
  }

  /** Whether the image was stated anew with other sources: who waits for it waits on. */
  #isReplaced(pull: Pull): boolean {
    const current = this.#pulls.get(pull.image.digest);
    return current !== undefined && current !== pull;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pulls.keys()].map((digest) => this.stop(digest)));
  }

  async #keepTrying(pull: Pull): Promise<void> {
    for (let failures = 1; !pull.stop.signal.aborted; failures++) {
      const error = await this.#try(pull);
      if (error === undefined || !(await this.#pause(pull, error, failures))) return;
    }
  }

  /** Undefined when the image is here. */
  async #try(pull: Pull): Promise<Error | undefined> {
    const { image, stop, urgency } = pull;
    const { signal } = stop;
    const onReceived = (bytes: number) => {
      pull.receivedBytes = bytes;
      pull.rate.note(bytes, this.#options.steady.now());
    };
    const flow = { onReceived, pass: () => this.#turns.pass(urgency, signal), signal };
    try {
      await this.#turns.run(urgency, () => this.#options.pullOnce(image, flow), signal);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    if (this.#pulls.get(image.digest) === pull) this.#pulls.delete(image.digest);
    pull.tried.resolve();
    this.#options.onChange();
    return undefined;
  }

  /** Tells of the failure and waits for the next try; false when there is none. */
  async #pause(pull: Pull, error: Error, failures: number): Promise<boolean> {
    if (pull.stop.signal.aborted) {
      pull.tried.reject(noLongerWanted(pull.image));
      return false;
    }
    const { clock } = this.#options;
    const waitMs = pauseMs(error, failures);
    pull.error = error;
    if (waitMs !== undefined) pull.nextTryAt = clock.now() + waitMs;
    pull.wake = new AbortController();
    pull.tried.reject(error);
    this.#options.onFailure(pull.image, error, pull.nextTryAt);
    this.#options.onChange();
    if (waitMs === undefined) return false;
    await clock.sleep(waitMs, AbortSignal.any([pull.stop.signal, pull.wake.signal])).catch(ignore);
    if (pull.error !== undefined) renew(pull);
    this.#options.onChange();
    return true;
  }
}

/** Makes a failed pull one that is under way again. */
function renew(pull: Pull): void {
  delete pull.error;
  delete pull.nextTryAt;
  pull.receivedBytes = 0;
  pull.rate = new Rate();
  pull.tried = freshTry();
}

function freshTry(): PromiseWithResolvers<void> {
  const tried = Promise.withResolvers<void>();
  tried.promise.catch(ignore);
  return tried;
}

function pauseMs(error: Error, failures: number): number | undefined {
  if (!(error instanceof RailheadError)) return backoffMs(failures, afterOtherFault);
  if (error.code !== 'DRIVER_ERROR') return undefined;
  const content = ['digest-mismatch', 'size-mismatch', 'truncated', 'not-in-artifact'].includes(
    error.details.reason ?? '',
  );
  return backoffMs(failures, content ? afterContentFault : afterOtherFault);
}

function noLongerWanted(image: CacheImage): RailheadError {
  return new RailheadError('NOT_FOUND', `${image.ref} is no longer desired at this site`, {
    digest: image.digest,
  });
}
