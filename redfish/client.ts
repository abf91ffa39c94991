import type { Agent, Dispatcher } from 'undici';
import { abortable } from '#base/abortable.ts';
import { backoffMs } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { Login, NextLogin } from '#base/logins.ts';
import { Slots } from '#base/slots.ts';
import { type Answer, BmcRefusal, isSuccess, mustSucceed } from './answers.ts';
import { type Authorization, Credentials } from './credentials.ts';
import { ifMatchForms, ifMatchHeader, tagOf } from './entityTag.ts';
import { requestStream } from './events/stream.ts';
import { asObject, asText, isObject, type JsonObject, linkOf, parseBody } from './json.ts';
import { endOf, isTimeout, type Limits } from './limits.ts';
import type { BmcMemory } from './memory.ts';
import { demandsPasswordChange, messagesOf } from './messages.ts';
import { retryAfterMs } from './retryAfter.ts';
import { BmcUnreachable, type Exchange, exchange, linkPath, NotConnected } from './transport.ts';

export interface ClientOptions {
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

/** A resource and the entity tag that a write of it may have to name. */
export interface Resource {
  path: string;
  body: JsonObject;
  tag: string | undefined;
}

export const rootPath = '/redfish/v1/';
const readTries = 4;
/** How long what is on its way has to come to its end when the connections are closed. */
const closeLimitMs = 5000;
const pause = { firstMs: 1000, maxMs: 15_000 };

/**
 * Redfish requests to one BMC (DSP0266): at most one write and two reads at a time, because BMCs fall over
 * more.
 */
export class RedfishClient {
  readonly origin: string;
  readonly clock: Clock;
  readonly #agent: Agent;
  readonly #streams: Agent;
  readonly #credentials: Credentials;
  readonly #reads: Slots;
  readonly #writes: Slots;
  readonly #memory: BmcMemory;
  readonly #options: ClientOptions;
  readonly #deadline: number;
  readonly #end: AbortSignal | undefined;
  /** Of which this is a view: itself where it is none. */
  readonly #whole: RedfishClient;
  readonly #closing = new AbortController();
  #root: JsonObject | undefined;
  #closed = false;

  constructor(options: ClientOptions, limits: Limits = {}, whole?: RedfishClient) {
    const { origin, clock, agent, streams, memory = {} } = options;
    this.origin = origin;
    this.clock = {
      now: clock.now,
      sleep: (ms, signal = limits.signal ?? this.#closing.signal) => clock.sleep(ms, signal),
    };
    this.#options = { ...options, memory };
    this.#deadline = limits.deadline ?? Number.POSITIVE_INFINITY;
    this.#end = endOf(limits, clock.now());
    this.#whole = whole ?? this;
    this.#agent = agent;
    this.#streams = streams;
    this.#memory = memory;
    this.#reads = whole === undefined ? new Slots(2) : whole.#reads;
    this.#writes = whole === undefined ? new Slots(1) : whole.#writes;
    this.#credentials = whole === undefined ? this.#newCredentials() : whole.#credentials;
  }

  #newCredentials(): Credentials {
    return new Credentials({
      ...this.#options,
      memory: this.#memory,
      send: (one) => this.#send(one),
      root: () => this.#openRoot(),
    });
  }

  /**
   * The same BMC, for a piece of work that ends by these limits: what it waits for and reads ends with it, and nothing more is written then.
   * Session, root and turns are shared.
   */
  within(limits: Limits): RedfishClient {
    return new RedfishClient(this.#options, limits, this.#whole);
  }

  /** Waits for a login, which is shared with others, no longer than this work may take. */
  async #awaited<Result>(shared: Promise<Result>): Promise<Result> {
    return abortable(shared, this.#end).catch((error: unknown) => this.#lateOr(error));
  }

  /** The service root, which is read once: it may be read without a login (DSP0266). */
  async root(): Promise<JsonObject> {
    await this.#openRoot();
    this.#whole.#root ??= (await this.get(rootPath)).body;
    return this.#whole.#root;
  }

  /**
   * Reads a resource. What a starting or busy BMC refuses (503, 429, a broken connection) is asked again a few
   * times.
   * @throws BmcRefusal, also (`malformed`) for an answer that is no resource; BmcUnreachable, RailheadError DRIVER_ERROR of the credentials
   *   or the pin
   */
  async get(link: string): Promise<Resource> {
    const path = linkPath(this.origin, link);
    const answer = mustSucceed('GET', path, await this.read(path));
    if (!isObject(answer.body)) throw new BmcRefusal('GET', path, answer);
    const { body } = answer;
    return { path, body, tag: tagOf(answer.headers.etag, asText(body['@odata.etag'])) };
  }

  /** Reads like `get` but leaves it to the caller what a status means. */
  read(path: string): Promise<Answer> {
    return this.#retrying({ method: 'GET', path });
  }

  /**
   * Changes a resource. It is sent again only where the BMC asks for another If-Match (412, 428), at most four
   * times in all, or where it was busy; the form of If-Match that worked is kept for the next time.
   * @throws BmcRefusal and as `get`
   */
  patch(resource: Resource, body: JsonObject): Promise<Answer> {
    return this.#patch(resource, body, (one) => this.#retrying(one));
  }

  /**
   * The same for what must not be done twice: nothing is sent again but for another If-Match, and the caller finds out what became of a
   * request that was not answered.
   */
  patchOnce(resource: Resource, body: JsonObject): Promise<Answer> {
    return this.#patch(resource, body, (one) => this.#authorized(one));
  }

  async #patch(
    resource: Resource,
    body: JsonObject,
    send: (one: Exchange) => Promise<Answer>,
  ): Promise<Answer> {
    let { path, tag } = resource;
    let answer: Answer | undefined;
    const forms = ifMatchForms(tag, this.#memory.ifMatch);
    for (const form of forms) {
      answer = await send({ method: 'PATCH', path, body, headers: ifMatchHeader(form, tag) });
      if (answer.status !== 412 && answer.status !== 428) {
        this.#memory.ifMatch = form;
        break;
      }
      if (form !== forms.at(-1)) ({ path, tag } = await this.get(path));
    }
    return mustSucceed('PATCH', path, answer as Answer);
  }

  /**
   * Sends an action once. The caller decides what to do about a refusal: only it can see whether the BMC acted.
   * @throws BmcRefusal and as `get`
   */
  async post(link: string, body: JsonObject): Promise<Answer> {
    const path = linkPath(this.origin, link);
    return mustSucceed('POST', path, await this.#authorized({ method: 'POST', path, body }));
  }

  /**
   * As whom the BMC takes us. A session proves that by itself, whatever the BMC answers then; Basic by an answer that none gets whom it does not
   * know, also when it does nothing before its password was changed.
   * @throws BmcRefusal for an answer that tells nothing, and as `get`
   */
  async whoAmI(): Promise<Login> {
    const link = linkOf((await this.#openRoot()).Systems) ?? rootPath;
    const path = linkPath(this.origin, link);
    let by: Authorization | undefined;
    const answer = await this.#retrying({ method: 'GET', path }, (one) =>
      this.#authorized(one, (authorization) => {
        by = authorization;
      }),
    );
    const isProof = by?.session === undefined ? isTaken(answer) : answer.status < 500;
    if (by === undefined || !isProof) throw new BmcRefusal('GET', path, answer);
    return by.login;
  }

  /** Another login that may be right: it is tried when those before it are refused. */
  know(login: Login): void {
    this.#credentials.know(login);
  }

  /** From now on logs in as this one, with a new session, and as the others only if it is refused. */
  prefer(login: Login): Promise<void> {
    return this.#credentials.prefer(login);
  }

  /** The account whose password must be changed before anything else, if the login told of one. */
  get accountToChange(): string | undefined {
    return this.#credentials.accountToChange;
  }

  /** Deletes a resource; one that is gone already is no error. @throws BmcRefusal and as `get` */
  async delete(path: string): Promise<void> {
    const answer = await this.#authorized({ method: 'DELETE', path });
    if (answer.status !== 404) mustSucceed('DELETE', path, answer);
  }

  /**
   * Asks for a stream, on a connection of its own: it is neither of the reads nor the write. The caller decides what a status means.
   * @throws as `get` but for BmcRefusal
   */
  async stream(
    link: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const path = linkPath(this.origin, link);
    const asked = (proof: Record<string, string>) =>
      requestStream(this.#streams, this.origin, path, { ...headers, ...proof }, signal);
    const authorization = await this.#credentials.get();
    const answer = await asked(authorization.headers);
    if (answer.statusCode !== 401) return answer;
    answer.body.destroy();
    return asked((await this.#credentials.renew(authorization)).headers);
  }

  /** Ends the session and the connections; a second call is harmless. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const limit = setTimeout(() => this.#cutOff(), closeLimitMs);
    await this.#credentials.finish();
    await this.#streams.destroy();
    await this.#agent.close();
    clearTimeout(limit);
  }

  /** Ends what hangs. */
  #cutOff(): void {
    this.#closing.abort();
    void this.#agent.destroy().catch(ignore);
  }

  async #retrying(
    one: Exchange,
    send: (one: Exchange) => Promise<Answer> = (each) => this.#authorized(each),
  ): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const answer = await send(one).catch((error) => mayBeTriedAgain(error));
      if (!(answer instanceof BmcUnreachable) && ![503, 429].includes(answer.status)) return answer;
      const waitMs = this.#pauseAfter(answer, tries);
      if (tries >= readTries || this.clock.now() + waitMs > this.#deadline) return givenUp(answer);
      await this.clock.sleep(waitMs);
    }
  }

  #pauseAfter(answer: Answer | BmcUnreachable, tries: number): number {
    const asked = answer instanceof BmcUnreachable ? undefined : answer.headers['retry-after'];
    return retryAfterMs(asked, this.clock.now()) ?? backoffMs(tries, pause);
  }

  /** With our credentials; a refused session is replaced once per login that there is, and so is Basic that is refused. */
  async #authorized(one: Exchange, onAnswer?: (by: Authorization) => void): Promise<Answer> {
    let authorization = await this.#awaited(this.#credentials.get());
    for (let renewals = 0; ; renewals++) {
      const answer = await this.#send(withHeaders(one, authorization.headers));
      onAnswer?.(authorization);
      if (answer.status !== 401) {
        if (answer.status < 500) this.#credentials.accepted(authorization.login);
        return answer;
      }
      // A login that was just taken proves the password: what is refused then is this one resource.
      if (renewals > 0 && authorization.session !== undefined) return answer;
      if (renewals >= this.#credentials.renewals) throw this.#credentials.refuse();
      authorization = await this.#awaited(this.#credentials.renew(authorization));
    }
  }

  /** What the service root says to whoever asks; nothing when it wants to know who we are first. */
  async #openRoot(): Promise<JsonObject> {
    const whole = this.#whole;
    if (whole.#root !== undefined) return whole.#root;
    const answer = await this.#retrying({ method: 'GET', path: rootPath }, (one) => this.#send(one));
    if (isSuccess(answer)) whole.#root = asObject(answer.body);
    return whole.#root ?? {};
  }

  #lateOr(error: unknown): never {
    throw isTimeout(error) ? new BmcUnreachable(this.origin, new NotConnected(error)) : error;
  }

  /** The one place where something goes to the BMC. Of a write that is on its way we want to know what became of it. */
  async #send(one: Exchange): Promise<Answer> {
    const isRead = one.method === 'GET';
    const turn = isRead ? this.#reads : this.#writes;
    const sent = turn.run(async () => {
      this.#end?.throwIfAborted();
      return exchange(this.#agent, this.origin, one, isRead ? this.#end : undefined);
    }, this.#end);
    const answer = await sent.catch((error: unknown) => this.#lateOr(error));
    return answer.status < 400 ? answer : this.#credentials.passwords.reduce(withoutSecret, answer);
  }
}

/** A network that failed may be better the next time, unless that was tried inside. */
function mayBeTriedAgain(error: unknown): BmcUnreachable {
  if (error instanceof BmcUnreachable && !error.triedEnough) return error;
  throw error;
}

function givenUp(last: Answer | BmcUnreachable): Answer {
  if (!(last instanceof BmcUnreachable)) return last;
  last.triedEnough = true;
  throw last;
}

/** What whoever does not know a password never hears: a refusal (403, 429) may be for too many tries of anybody. */
function isTaken(answer: Answer): boolean {
  return isSuccess(answer) || demandsPasswordChange(messagesOf(answer.body));
}

function withHeaders(one: Exchange, headers: Record<string, string>): Exchange {
  return { ...one, headers: { ...one.headers, ...headers } };
}

/** A BMC may quote what it was sent, as it is or escaped, and what we tell of a refusal goes into logs and errors. */
function withoutSecret(answer: Answer, secret: string): Answer {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
  if (secret === '' || !forms.some((form) => answer.text.includes(form))) return answer;
  const text = forms.reduce((shown, form) => shown.replaceAll(form, '***'), answer.text);
  return { ...answer, text, body: parseBody(text) };
}
