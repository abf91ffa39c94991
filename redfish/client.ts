import type { Dispatcher } from 'undici';
import type { Clock } from '#base/clock.ts';
import type { Login } from '#base/logins.ts';
import { type Answer, BmcRefusal, isSuccess, mustSucceed } from './answers.ts';
import { conditionalPatch } from './conditionalPatch.ts';
import { type Connection, rootPath } from './connection.ts';
import { tagOf } from './entityTag.ts';
import { asText, isObject, type JsonObject, linkOf } from './json.ts';
import type { Bounds, Limits } from './limits.ts';
import { demandsPasswordChange, messagesOf } from './messages.ts';
import { retrying } from './retrying.ts';
import type { Authorization } from './sessions.ts';
import { type Exchange, linkPath } from './transport.ts';

/** A resource and the entity tag that a write of it may have to name. */
export interface Resource {
  path: string;
  body: JsonObject;
  tag: string | undefined;
}

/** Redfish requests to one BMC (DSP0266), for one piece of work: `connection.ts` is what it shares with other work there. */
export class RedfishClient {
  readonly origin: string;
  readonly clock: Clock;
  readonly #connection: Connection;
  readonly #bounds: Bounds;

  constructor(connection: Connection, limits: Limits = {}) {
    this.#connection = connection;
    this.#bounds = connection.bounds(limits);
    this.origin = connection.origin;
    this.clock = this.#bounds.clock;
  }

  /** The same BMC, for a piece of work that ends by these limits: what it waits for and reads ends with it, and nothing more is written then. */
  within(limits: Limits): RedfishClient {
    return new RedfishClient(this.#connection, limits);
  }

  /** The service root, which is read once: it may be read without a login (DSP0266). */
  root(): Promise<JsonObject> {
    return this.#connection.root(this.#bounds, async () => (await this.get(rootPath)).body);
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
   * Changes a resource, with the If-Match that the BMC wants; what a busy BMC refused is sent again.
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
    return this.#patch(resource, body, (one) => this.#once(one));
  }

  #patch(resource: Resource, body: JsonObject, send: (one: Exchange) => Promise<Answer>): Promise<Answer> {
    const { memory } = this.#connection;
    return conditionalPatch(resource, body, { send, read: (path) => this.get(path), memory });
  }

  /**
   * Sends an action once. The caller decides what to do about a refusal: only it can see whether the BMC acted.
   * @throws BmcRefusal and as `get`
   */
  async post(link: string, body: JsonObject): Promise<Answer> {
    const path = linkPath(this.origin, link);
    return mustSucceed('POST', path, await this.#once({ method: 'POST', path, body }));
  }

  /** Deletes a resource; one that is gone already is no error. @throws BmcRefusal and as `get` */
  async delete(path: string): Promise<void> {
    const answer = await this.#once({ method: 'DELETE', path });
    if (answer.status !== 404) mustSucceed('DELETE', path, answer);
  }

  /**
   * Asks for a stream of events. The caller decides what a status means.
   * @throws as `get` but for BmcRefusal
   */
  stream(
    link: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    return this.#connection.stream(linkPath(this.origin, link), headers, signal);
  }

  /**
   * As whom the BMC takes us. A session proves that by itself, whatever the BMC answers then; Basic by an answer that none gets whom it does not
   * know, also when it does nothing before its password was changed.
   * @throws BmcRefusal for an answer that tells nothing, and as `get`
   */
  async whoAmI(): Promise<Login> {
    const { Systems, Managers } = await this.#connection.openRoot(this.#bounds);
    // The root may be open to everybody, and then proves nothing by Basic.
    const link = linkOf(Systems) ?? linkOf(Managers) ?? rootPath;
    const one: Exchange = { method: 'GET', path: linkPath(this.origin, link) };
    let by: Authorization | undefined;
    const answer = await this.#retrying(one, (authorization) => {
      by = authorization;
    });
    const isProof = by?.session === undefined ? isTaken(answer) : answer.status < 500;
    if (by === undefined || !isProof) throw new BmcRefusal('GET', one.path, answer);
    return by.login;
  }

  /** Another login that may be right: it is tried when those before it are refused. */
  know(login: Login): void {
    this.#connection.credentials.know(login);
  }

  /** From now on logs in as this one, with a new session, and as the others only if it is refused. */
  prefer(login: Login): Promise<void> {
    return this.#connection.credentials.prefer(login);
  }

  /** The account whose password must be changed before anything else, if the login told of one. */
  get accountToChange(): string | undefined {
    return this.#connection.credentials.accountToChange;
  }

  /** Ends the session and the connections of all work with this BMC; a second call is harmless. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  #retrying(one: Exchange, onAnswer?: (by: Authorization) => void): Promise<Answer> {
    return retrying(() => this.#once(one, onAnswer), this.#bounds);
  }

  #once(one: Exchange, onAnswer?: (by: Authorization) => void): Promise<Answer> {
    return this.#connection.sendAuthorized(one, this.#bounds.end, onAnswer);
  }
}

/** What whoever does not know a password never hears: a refusal (403, 429) may be for too many tries of anybody. */
function isTaken(answer: Answer): boolean {
  return isSuccess(answer) || demandsPasswordChange(messagesOf(answer.body));
}
