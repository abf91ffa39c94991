import type { Agent } from 'undici';
import { backoffMs } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Slots } from '#base/slots.ts';
import { type Answer, isSuccess, mustSucceed } from './answers.ts';
import { Credentials } from './credentials.ts';
import { ifMatchForms, ifMatchHeader, tagOf } from './entityTag.ts';
import { asObject, asText, type JsonObject, parseBody } from './json.ts';
import type { BmcMemory } from './memory.ts';
import { retryAfterMs } from './retryAfter.ts';
import { BmcUnreachable, type Exchange, exchange, linkPath } from './transport.ts';

export interface ClientOptions {
  origin: string;
  username: string;
  password: string;
  agent: Agent;
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

const rootPath = '/redfish/v1/';
const readTries = 4;
const pause = { firstMs: 1000, maxMs: 15_000 };

/**
 * Redfish requests to one BMC (DSP0266): at most one write and two reads at a time, because BMCs fall over
 * more.
 */
export class RedfishClient {
  readonly origin: string;
  readonly clock: Clock;
  readonly #agent: Agent;
  readonly #password: string;
  readonly #credentials: Credentials;
  readonly #reads = new Slots(2);
  readonly #writes = new Slots(1);
  readonly #memory: BmcMemory;
  #root: JsonObject | undefined;
  #closed = false;

  constructor({ agent, memory = {}, ...options }: ClientOptions) {
    this.origin = options.origin;
    this.clock = options.clock;
    this.#agent = agent;
    this.#password = options.password;
    this.#memory = memory;
    this.#credentials = new Credentials({
      ...options,
      send: (one) => this.#send(one),
      root: () => this.#openRoot(),
    });
  }

  /** The service root, which is read once: it may be read without a login (DSP0266). */
  async root(): Promise<JsonObject> {
    await this.#openRoot();
    this.#root ??= (await this.get(rootPath)).body;
    return this.#root;
  }

  /**
   * Reads a resource. What a starting or busy BMC refuses (503, 429, a broken connection) is asked again a few
   * times.
   * @throws BmcRefusal, BmcUnreachable, RailheadError DRIVER_ERROR of the credentials or the pin
   */
  async get(link: string): Promise<Resource> {
    const path = linkPath(this.origin, link);
    const answer = mustSucceed('GET', path, await this.read(path));
    const body = asObject(answer.body);
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
  async patch(resource: Resource, body: JsonObject): Promise<Answer> {
    let { path, tag } = resource;
    let answer: Answer | undefined;
    for (const form of ifMatchForms(tag, this.#memory.ifMatch)) {
      answer = await this.#retrying({ method: 'PATCH', path, body, headers: ifMatchHeader(form, tag) });
      if (answer.status !== 412 && answer.status !== 428) {
        this.#memory.ifMatch = form;
        break;
      }
      ({ path, tag } = await this.get(path));
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

  /** Ends the session and the connections; a second call is harmless. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#credentials.close();
    await this.#agent.close();
  }

  async #retrying(one: Exchange, send = this.#authorized): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const answer = await send.call(this, one).catch((error) => {
        if (error instanceof BmcUnreachable && !error.triedEnough && tries < readTries) return undefined;
        if (error instanceof BmcUnreachable) error.triedEnough = true;
        throw error;
      });
      if (answer !== undefined && (tries >= readTries || ![503, 429].includes(answer.status))) return answer;
      const asked = retryAfterMs(answer?.headers['retry-after'], this.clock.now());
      await this.clock.sleep(asked ?? backoffMs(tries, pause));
    }
  }

  /** With our credentials; a refused session is replaced once, and Basic that is refused is asked once more. */
  async #authorized(one: Exchange): Promise<Answer> {
    const authorization = await this.#credentials.get();
    const answer = await this.#send(withHeaders(one, authorization.headers));
    if (answer.status !== 401) return answer;
    const fresh = await this.#credentials.renew(authorization);
    const second = await this.#send(withHeaders(one, fresh.headers));
    if (second.status !== 401) return second;
    throw this.#credentials.refuse();
  }

  /** What the service root says to whoever asks; nothing when it wants to know who we are first. */
  async #openRoot(): Promise<JsonObject> {
    if (this.#root !== undefined) return this.#root;
    const answer = await this.#retrying({ method: 'GET', path: rootPath }, this.#send);
    if (isSuccess(answer)) this.#root = asObject(answer.body);
    return this.#root ?? {};
  }

  /** The one place where something goes to the BMC. */
  async #send(one: Exchange): Promise<Answer> {
    const turn = one.method === 'GET' ? this.#reads : this.#writes;
    const answer = await turn.run(() => exchange(this.#agent, this.origin, one));
    return answer.status < 400 ? answer : withoutSecret(answer, this.#password);
  }
}

function withHeaders(one: Exchange, headers: Record<string, string>): Exchange {
  return { ...one, headers: { ...one.headers, ...headers } };
}

/** A BMC may quote what it was sent, and what we tell of a refusal goes into logs and errors. */
function withoutSecret(answer: Answer, secret: string): Answer {
  if (secret === '' || !answer.text.includes(secret)) return answer;
  const text = answer.text.replaceAll(secret, '***');
  return { ...answer, text, body: parseBody(text) };
}
