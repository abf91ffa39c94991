import { type Dispatcher, errors } from 'undici';
import { backoffMs } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import { systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { noRoom, sizeMismatch, truncated, unreachable } from '../faults.ts';
import { type AnswerFacts, type Asked, decideAnswer, validatorOf } from './answer.ts';
import { ask, type Source } from './ask.ts';
import { type Authorizer, urlAuthorizer } from './authorizer.ts';
import { drop, factsOf, type HttpAnswer, mediaType } from './httpAnswer.ts';
import { publicPart } from './redirects.ts';

/** Where the bytes go: the part of an artifact that is here, and how to lengthen it or to begin anew. */
export interface PullTarget {
  readonly sizeBytes: number;
  append(chunk: Uint8Array): Promise<void>;
  restart(): Promise<void>;
}

export interface PullOptions {
  dispatcher: Dispatcher;
  clock: Clock;
  signal: AbortSignal;
  /** The catalog's size. */
  expectedBytes?: number;
  /** The most bytes that may arrive, whatever the source says. */
  limitBytes: number;
  /** Called before the first byte of a body, once its size is known. @throws to refuse it */
  onSize?: (totalBytes: number) => Promise<void>;
}

/** Tries without a byte of progress before a pull is given up. */
const fruitlessTries = 4;
const pause = { firstMs: 500, maxMs: 8000 };

/**
 * Pulls the bytes of an `https://` source into `target`, as they are on the wire: nothing is decoded. A broken
 * transfer is resumed by a range that must carry the same validator, else begun anew. The digest is for the
 * caller to check.
 * @returns the answer's media type, for the message when the digest differs
 * @throws RailheadError DRIVER_ERROR: `unreachable`, `truncated`, `size-mismatch`, `redirect`; what `target`
 *   and `onSize` throw
 */
export async function pullHttps(
  source: string,
  target: PullTarget,
  options: PullOptions,
): Promise<{ contentType?: string }> {
  const url = parseSource(source);
  return pullFromUrl(url, urlAuthorizer(url), target, options);
}

/** The same from a URL that is known to be https, with another way to prove who asks. */
export async function pullFromUrl(
  source: URL,
  authorizer: Authorizer,
  target: PullTarget,
  options: PullOptions,
): Promise<{ contentType?: string }> {
  const transfer = new Transfer(source, authorizer, target, options);
  let best = 0;
  for (let fruitless = 1; ; fruitless++) {
    try {
      return await transfer.run();
    } catch (error) {
      if (options.signal.aborted || error instanceof RailheadError || !isNetworkError(error)) throw error;
      if (target.sizeBytes > best) fruitless = 1;
      best = Math.max(best, target.sizeBytes);
      if (fruitless >= fruitlessTries) throw transfer.failure(error, best);
      await options.clock.sleep(backoffMs(fruitless, pause), options.signal);
    }
  }
}

function parseSource(source: string): URL {
  const url = URL.canParse(source) ? new URL(source) : undefined;
  if (url?.protocol === 'https:') return url;
  throw new RailheadError('INVALID_INPUT', 'an image source must be an https:// URL', {
    reason: 'scheme',
    ...(url && { source: publicPart(url) }),
  });
}

/** One pull and what it has learned of its source: total size and validator. */
class Transfer {
  readonly #source: Source;
  readonly #target: PullTarget;
  readonly #options: PullOptions;
  #totalBytes: number | undefined;
  #validator: string | undefined;
  /** Whether a body has ever come. */
  #began = false;

  constructor(url: URL, authorizer: Authorizer, target: PullTarget, options: PullOptions) {
    this.#source = { url, authorizer, dispatcher: options.dispatcher, signal: options.signal };
    this.#target = target;
    this.#options = options;
    this.#totalBytes = options.expectedBytes;
  }

  /** One try: asks for what is missing and takes it. */
  async run(): Promise<{ contentType?: string }> {
    const asked = this.#asked();
    const answer = await ask(this.#source, asked);
    const facts = factsOf(answer);
    const decision = decideAnswer(facts, asked);
    if (decision.kind === 'take') return this.#take(answer, facts, decision);
    await drop(answer);
    if (decision.kind === 'whole') return {};
    if (decision.kind === 'refuse') throw this.#refused(answer.statusCode, decision.cause);
    await this.#target.restart();
    return this.run();
  }

  /** What to say when the network failed for good, at most `foundBytes` having been here. */
  failure(cause: unknown, foundBytes: number): RailheadError {
    const source = publicPart(this.#source.url);
    if (this.#began && this.#totalBytes !== undefined)
      return truncated(this.#totalBytes, foundBytes, source, cause);
    return unreachable(source, systemCode(cause) ?? 'no HTTP', {}, cause);
  }

  #asked(): Asked {
    return {
      offset: this.#target.sizeBytes,
      ...(this.#totalBytes !== undefined && { totalBytes: this.#totalBytes }),
      ...(this.#validator !== undefined && { validator: this.#validator }),
    };
  }

  async #take(
    answer: HttpAnswer,
    facts: AnswerFacts,
    { at, totalBytes }: { at: number; totalBytes?: number },
  ): Promise<{ contentType?: string }> {
    try {
      if (totalBytes !== undefined) await this.#acceptSize(totalBytes);
      if (at === 0) await this.#target.restart();
      this.#validator = validatorOf(facts);
    } catch (error) {
      await drop(answer);
      throw error;
    }
    this.#began = true;
    await this.#receive(answer);
    return mediaType(answer);
  }

  async #acceptSize(totalBytes: number): Promise<void> {
    const { expectedBytes, onSize } = this.#options;
    if (expectedBytes !== undefined && totalBytes !== expectedBytes)
      throw sizeMismatch(expectedBytes, totalBytes, publicPart(this.#source.url));
    if (this.#totalBytes === undefined) await onSize?.(totalBytes);
    this.#totalBytes = totalBytes;
  }

  async #receive(answer: HttpAnswer): Promise<void> {
    const limit = this.#totalBytes ?? this.#options.limitBytes;
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      const arrived = this.#target.sizeBytes + chunk.length;
      if (arrived > limit) throw this.#tooMuch(limit, arrived);
      await this.#target.append(chunk);
    }
    const found = this.#target.sizeBytes;
    // An answer without a length that just ends looks complete to every HTTP client: only the size tells.
    if (this.#totalBytes !== undefined && found < this.#totalBytes) throw new EndedEarly();
  }

  #tooMuch(limit: number, arrived: number): RailheadError {
    if (this.#totalBytes === undefined) return noRoom(arrived, 'quota', { quotaBytes: limit });
    return sizeMismatch(limit, arrived, publicPart(this.#source.url));
  }

  #refused(status: number, cause: string): RailheadError {
    return unreachable(publicPart(this.#source.url), cause, { status });
  }
}

class EndedEarly extends Error {
  readonly code = 'ENDED_EARLY';
}

/** Failures of the wire, as against those of the disk and of ourselves: only they are worth another try. */
function isNetworkError(error: unknown): boolean {
  if (error instanceof errors.HTTPParserError) return true;
  const code = systemCode(error);
  return code !== undefined && !['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EBADF', 'EMFILE'].includes(code);
}
