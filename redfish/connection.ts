import type { Agent, Dispatcher } from 'undici';
import { abortable } from '#base/abortable.ts';
import type { Clock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { NextLogin } from '#base/logins.ts';
import { Slots } from '#base/slots.ts';
import { type Answer, isSuccess } from './answers.ts';
import { Credentials } from './credentials.ts';
import { requestStream } from './events/stream.ts';
import { asObject, type JsonObject } from './json.ts';
import { type Bounds, endOf, isTimeout, type Limits } from './limits.ts';
import { maskSecrets, mayQuote } from './maskSecrets.ts';
import type { BmcMemory } from './memory.ts';
import { retrying } from './retrying.ts';
import type { Authorization } from './sessions.ts';
import { BmcUnreachable, type Exchange, exchange, NotConnected } from './transport.ts';

export interface ConnectionOptions {
  origin: string;
  username: string;
  password: string;
  next?: NextLogin | undefined;
  agent: Agent;
  /** The connection of a stream of events. */
  streams: Agent;
  log: Log;
  clock: Clock;
  memory?: BmcMemory;
}

export const rootPath = '/redfish/v1/';
/** How long what is on its way has to come to its end when the connections are closed. */
const closeLimitMs = 5000;

/**
 * What all work with one BMC shares: whom we are to it, its service root, and whose turn it is: at most one write and two reads at a time,
 * because BMCs fall over more.
 */
export class Connection {
  readonly origin: string;
  readonly memory: BmcMemory;
  readonly credentials: Credentials;
  readonly #clock: Clock;
  readonly #agent: Agent;
  readonly #streams: Agent;
  readonly #reads = new Slots(2);
  readonly #writes = new Slots(1);
  readonly #closing = new AbortController();
  #root: JsonObject | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    const { origin, clock, agent, streams, memory = {} } = options;
    this.origin = origin;
    this.memory = memory;
    this.#clock = clock;
    this.#agent = agent;
    this.#streams = streams;
    this.credentials = new Credentials({
      ...options,
      memory,
      send: (one) => this.send(one),
      root: () => this.openRoot(this.bounds()),
    });
  }

  /** Of a piece of work that begins now. Its pauses end with its own signal; where it has none, with the connections. */
  bounds(limits: Limits = {}): Bounds {
    const clock = this.#clock;
    const over = limits.signal ?? this.#closing.signal;
    return {
      clock: { now: clock.now, sleep: (ms, signal = over) => clock.sleep(ms, signal) },
      deadline: limits.deadline ?? Number.POSITIVE_INFINITY,
      end: endOf(limits, clock.now()),
    };
  }

  /** The one place where something goes to the BMC. Of a write that is on its way we want to know what became of it. */
  async send(one: Exchange, end?: AbortSignal): Promise<Answer> {
    const isRead = one.method === 'GET';
    const turn = isRead ? this.#reads : this.#writes;
    const sent = turn.run(async () => {
      end?.throwIfAborted();
      return exchange(this.#agent, this.origin, one, isRead ? end : undefined);
    }, end);
    const answer = await sent.catch((error: unknown) => this.#lateOr(error));
    return mayQuote(answer) ? maskSecrets(answer, this.credentials.passwords) : answer;
  }

  /**
   * With our credentials; a refused session is replaced once per login that there is, and so is Basic that is refused. `onAnswer` is told by
   * which proof each answer came.
   */
  async sendAuthorized(
    one: Exchange,
    end?: AbortSignal,
    onAnswer?: (by: Authorization) => void,
  ): Promise<Answer> {
    const { credentials } = this;
    let authorization = await this.#awaited(credentials.get(), end);
    for (let renewals = 0; ; renewals++) {
      const answer = await this.send(withHeaders(one, authorization.headers), end);
      onAnswer?.(authorization);
      if (answer.status !== 401) {
        if (answer.status < 500) credentials.accepted(authorization.login);
        return answer;
      }
      // A login that was just taken proves the password: what is refused then is this one resource.
      if (renewals > 0 && authorization.session !== undefined) return answer;
      if (renewals >= credentials.renewals) throw credentials.refuse();
      authorization = await this.#awaited(credentials.renew(authorization), end);
    }
  }

  /** What the service root says to whoever asks; nothing when it wants to know who we are first. Read once. */
  async openRoot(bounds: Bounds): Promise<JsonObject> {
    if (this.#root !== undefined) return this.#root;
    const answer = await retrying(() => this.send({ method: 'GET', path: rootPath }, bounds.end), bounds);
    if (isSuccess(answer)) this.#root = asObject(answer.body);
    return this.#root ?? {};
  }

  /** The service root; `read` gets it with our credentials from a BMC that shows it to nobody else. Read once. */
  async root(bounds: Bounds, read: () => Promise<JsonObject>): Promise<JsonObject> {
    await this.openRoot(bounds);
    this.#root ??= await read();
    return this.#root;
  }

  /** Asks for a stream, on a connection of its own: it is neither of the reads nor the write. */
  async stream(
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const asked = (proof: Record<string, string>) =>
      requestStream(this.#streams, this.origin, path, { ...headers, ...proof }, signal);
    const authorization = await this.credentials.get();
    const answer = await asked(authorization.headers);
    if (answer.statusCode !== 401) return answer;
    answer.body.destroy();
    return asked((await this.credentials.renew(authorization)).headers);
  }

  /** Ends the session and the connections; a second call is harmless. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const limit = setTimeout(() => this.#cutOff(), closeLimitMs);
    await this.credentials.finish();
    await this.#streams.destroy();
    await this.#agent.close();
    clearTimeout(limit);
  }

  /** Ends what hangs. */
  #cutOff(): void {
    this.#closing.abort();
    void this.#agent.destroy().catch(ignore);
  }

  /** Waits for a login, which is shared with others, no longer than this work may take. */
  async #awaited<Result>(shared: Promise<Result>, end: AbortSignal | undefined): Promise<Result> {
    return abortable(shared, end).catch((error: unknown) => this.#lateOr(error));
  }

  #lateOr(error: unknown): never {
    throw isTimeout(error) ? new BmcUnreachable(this.origin, new NotConnected(error)) : error;
  }
}

function withHeaders(one: Exchange, headers: Record<string, string>): Exchange {
  return { ...one, headers: { ...one.headers, ...headers } };
}
