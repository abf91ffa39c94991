import { type Dispatcher, errors, request } from 'undici';
import { backoffMs } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import { systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { noRoom, refusedRedirect, sizeMismatch, truncated, unreachable } from '../faults.ts';
import { type AnswerFacts, type Asked, decideAnswer, validatorOf } from './answer.ts';
import { type Authorizer, urlAuthorizer } from './authorizer.ts';
import { isRedirect, nextHop, publicPart, redirectLimit } from './redirects.ts';

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

/** What has arrived while a piece is being written and hashed is the next piece: small ones cost a passage to the disk's threads each. */
const bufferBytes = 1024 * 1024;
/** Tries without a byte of progress before a pull is given up. */
const fruitlessTries = 4;
const pause = { firstMs: 500, maxMs: 8000 };

type Answer = Dispatcher.ResponseData;

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
  readonly #source: URL;
  readonly #authorizer: Authorizer;
  readonly #target: PullTarget;
  readonly #options: PullOptions;
  #totalBytes: number | undefined;
  #validator: string | undefined;
  /** Whether a body has ever come. */
  #began = false;

  constructor(source: URL, authorizer: Authorizer, target: PullTarget, options: PullOptions) {
    this.#source = source;
    this.#authorizer = authorizer;
    this.#target = target;
    this.#options = options;
    this.#totalBytes = options.expectedBytes;
  }

  /** One try: asks for what is missing and takes it. */
  async run(): Promise<{ contentType?: string }> {
    const asked = this.#asked();
    const answer = await this.#ask(asked);
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
    const source = publicPart(this.#source);
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

  /** A refusal is answered once, by what the authorizer can show then. */
  async #ask(asked: Asked): Promise<Answer> {
    const answer = await this.#follow(asked);
    if (answer.statusCode !== 401) return answer;
    const challenge = header(answer, 'www-authenticate');
    if (!(await this.#authorizer.renew(challenge, this.#options.signal))) return answer;
    await drop(answer);
    return this.#follow(asked);
  }

  async #follow(asked: Asked): Promise<Answer> {
    let url = this.#source;
    for (let hop = 0; hop <= redirectLimit; hop++) {
      const answer = await request(url, {
        method: 'GET',
        headers: this.#headers(url, asked),
        dispatcher: this.#options.dispatcher,
        signal: this.#options.signal,
        highWaterMark: bufferBytes,
      });
      if (!isRedirect(answer.statusCode)) return answer;
      await drop(answer);
      const next = nextHop(url, header(answer, 'location'));
      if (typeof next === 'string') throw refusedRedirect(publicPart(url), next);
      url = next;
    }
    throw refusedRedirect(publicPart(this.#source), `more than ${redirectLimit} hops`);
  }

  #headers(url: URL, asked: Asked): Record<string, string> {
    return {
      'accept-encoding': 'identity',
      ...this.#authorizer.headersFor(url),
      ...(asked.offset > 0 && { range: `bytes=${asked.offset}-` }),
      ...(asked.offset > 0 && asked.validator !== undefined && { 'if-range': asked.validator }),
    };
  }

  async #take(
    answer: Answer,
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
    const contentType = header(answer, 'content-type')?.split(';')[0]?.trim().toLowerCase();
    return contentType === undefined ? {} : { contentType };
  }

  async #acceptSize(totalBytes: number): Promise<void> {
    const { expectedBytes, onSize } = this.#options;
    if (expectedBytes !== undefined && totalBytes !== expectedBytes)
      throw sizeMismatch(expectedBytes, totalBytes, publicPart(this.#source));
    if (this.#totalBytes === undefined) await onSize?.(totalBytes);
    this.#totalBytes = totalBytes;
  }

  async #receive(answer: Answer): Promise<void> {
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
    return sizeMismatch(limit, arrived, publicPart(this.#source));
  }

  #refused(status: number, cause: string): RailheadError {
    return unreachable(publicPart(this.#source), cause, { status });
  }
}

function factsOf(answer: Answer): AnswerFacts {
  const length = header(answer, 'content-length');
  return {
    status: answer.statusCode,
    ...(length !== undefined && /^\d{1,15}$/.test(length) && { contentLength: Number(length) }),
    ...named('contentRange', header(answer, 'content-range')),
    ...named('etag', header(answer, 'etag')),
    ...named('lastModified', header(answer, 'last-modified')),
  };
}

function named<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: string };
}

function header(answer: Answer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Ends a body that is not wanted without reading a page of any length. */
async function drop(answer: Answer): Promise<void> {
  await answer.body.dump({ limit: 16 * 1024 }).catch(() => {});
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
