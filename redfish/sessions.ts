import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { Login } from '#base/logins.ts';
import { type Answer, isSuccess } from './answers.ts';
import { asObject, type JsonObject, linkOf } from './json.ts';
import { endLostSession, type OpenSession, openSession } from './lostSession.ts';
import type { BmcMemory } from './memory.ts';
import { BmcUnreachable, type Exchange, linkPath } from './transport.ts';

/** What proves who we are, in a request's headers; a session can be ended. */
export interface Authorization {
  headers: Record<string, string>;
  /** Whose proof it is. */
  login: Login;
  session?: string;
  /** Basic in a session's stead: until when, in milliseconds, before a session is asked for again. */
  until?: number;
}

export interface SessionsOptions {
  origin: string;
  memory: Pick<BmcMemory, 'session'>;
  send(exchange: Exchange): Promise<Answer>;
  /** The service root; empty when it tells nothing before a login. */
  root(): Promise<JsonObject>;
  log: Log;
}

/** The session service of one BMC (DSP0266): how a session is asked for, and how it is ended, also by the run after a kill. */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Where sessions are asked for; undefined when the BMC has none. */
  async path(): Promise<string | undefined> {
    const { origin } = this.#options;
    const root = await this.#options.root();
    const linked = linkOf(asObject(root.Links).Sessions);
    if (linked !== undefined) return linkPath(origin, linked);
    const service = linkOf(root.SessionService);
    return service && `${linkPath(origin, service).replace(/\/$/, '')}/Sessions`;
  }

  /** Asks for one. Undefined when the BMC may have made a session and its answer never came. */
  async ask(path: string, { username, password }: Login): Promise<Answer | undefined> {
    const body = { UserName: username, Password: password };
    return this.#options.send({ method: 'POST', path, body }).catch((error) => {
      if (error instanceof BmcUnreachable && error.sent) return undefined;
      throw error;
    });
  }

  /**
   * The session that such an answer has opened, which is remembered. Undefined for one without a name, which cannot be ended
   * (DMTF/python-redfish-library issue 172): one leaks, no second one shall.
   */
  opened(answer: Answer, login: Login): Authorization | undefined {
    const token = answer.headers['x-auth-token'];
    const session = answer.headers.location || linkOf(answer.body);
    if (token === undefined || session === undefined) return undefined;
    const path = linkPath(this.#options.origin, session);
    const kept = openSession(path, asObject(answer.body));
    if (kept !== undefined) this.#options.memory.session = kept;
    return { headers: { 'x-auth-token': token }, login, session: path };
  }

  /** Ends a session by this proof; returns whether it is gone. */
  async end(session: string | undefined, { headers }: Authorization): Promise<boolean> {
    if (session === undefined) return true;
    const { send, memory } = this.#options;
    const answer = await send({ method: 'DELETE', path: session, headers }).catch(ignore);
    const isGone = answer !== undefined && (isSuccess(answer) || answer.status === 404);
    if (isGone && memory.session?.path === session) delete memory.session;
    return isGone;
  }

  /** The session that is remembered: before the first login, that of an earlier run. */
  get remembered(): OpenSession | undefined {
    return this.#options.memory.session;
  }

  forget(): void {
    delete this.#options.memory.session;
  }

  /** Ends what an earlier run has left, by a proof of this one. */
  async endLost(lost: OpenSession, { session, headers, login }: Authorization): Promise<void> {
    if (lost.path === session) return;
    if (this.remembered === lost) this.forget();
    const send = (one: Exchange) => this.#options.send({ ...one, headers });
    await endLostSession(lost, login.username, send).catch((error: unknown) =>
      this.#options.log.debug({ err: error }, 'a session of an earlier run was left as it is'),
    );
  }
}
