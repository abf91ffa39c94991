import type { Clock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import { type Login, Logins, type NextLogin } from '#base/logins.ts';
import { RailheadError } from '#contract/errors.ts';
import { type Answer, isSuccess } from './answers.ts';
import type { BmcMemory } from './memory.ts';
import { messagesOf, passwordChangeAt } from './messages.ts';
import { type Authorization, Sessions, type SessionsOptions } from './sessions.ts';

export interface CredentialsOptions extends SessionsOptions {
  username: string;
  password: string;
  /** What the account is being given in the password's place: one of the two is right. `id` says which one it is, in a memory. */
  next?: NextLogin | undefined;
  memory: Pick<BmcMemory, 'login' | 'session'>;
  clock: Clock;
}

/**
 * BMCs answer an occasional 401 to good credentials (HPE, GB200: dsx-ai-factory/infra-controller PR 5349); more
 * in a row is a refusal.
 */
const refusalsInARow = 2;
/** Some BMCs lock an account that is tried too often: after a refusal nothing is sent for this long. */
const restAfterRefusalMs = 300_000;
/** A BMC that has no session left for us is not asked for one at every request. */
const basicForMs = 300_000;

/**
 * Whom we are to one BMC: one session, kept and shared by all requests and ended at the close, since BMCs have
 * few (iDRAC 8) and leaked ones shut everybody out. Where sessions cannot be had, Basic.
 */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #logins: Logins;
  readonly #sessions: Sessions;
  #current: Promise<Authorization> | undefined;
  #restUntil = 0;
  #finished = false;
  /** The account whose password must be changed before anything else, as the last login told. */
  accountToChange: string | undefined;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    const { username, password, next, memory } = options;
    this.#logins = new Logins({ username, password }, next, memory);
    this.#sessions = new Sessions(options);
  }

  /** Every password that may be quoted by an answer. */
  get passwords(): string[] {
    return this.#logins.passwords;
  }

  /** How often a refused proof is replaced by a new one: once per login. */
  get renewals(): number {
    return this.#logins.count;
  }

  /** The BMC has just taken this login. */
  accepted(login: Login): void {
    this.#logins.accepted(login);
  }

  /** Adds a login, to be tried last. */
  know(login: Login): void {
    this.#logins.know(login);
  }

  /** Ends the session; the next one is asked for by this login, and by the others if it is refused. */
  async prefer(login: Login): Promise<void> {
    this.#logins.prefer(login);
    await this.close();
  }

  /** @throws RailheadError DRIVER_ERROR, reason `credentials-refused` */
  async get(): Promise<Authorization> {
    const seen = this.#current;
    const { until = Number.POSITIVE_INFINITY } = (await seen) ?? {};
    if (this.#current === seen && this.#options.clock.now() >= until) this.#current = undefined;
    this.#current ??= this.#open().catch((error) => {
      this.#current = undefined;
      throw error;
    });
    return this.#current;
  }

  /** A new proof in place of one that was refused. Requests that are refused together renew once. */
  async renew(refused: Authorization): Promise<Authorization> {
    const seen = this.#current;
    const current = await seen?.catch(ignore);
    if (current !== refused || this.#current !== seen) return this.get();
    const renewal = this.#replace(refused);
    this.#current = renewal;
    renewal.catch(() => {
      if (this.#current === renewal) this.#current = undefined;
    });
    return renewal;
  }

  /**
   * The old session first: a 401 may have been a whim, and BMCs have few sessions. One that will not be ended
   * is ended with the new proof.
   */
  async #replace(refused: Authorization): Promise<Authorization> {
    if (refused.session === undefined) this.#logins.turn(refused.login);
    const ended = await this.#sessions.end(refused.session, refused);
    this.#sessions.forget();
    const fresh = await this.#open();
    // A BMC that started anew counts its sessions from the first again.
    if (!ended && fresh.session !== refused.session) await this.#sessions.end(refused.session, fresh);
    return fresh;
  }

  /** To be called when a fresh proof is refused as well; it is not shown once more. */
  refuse(): RailheadError {
    this.#current = undefined;
    this.#restUntil = this.#options.clock.now() + restAfterRefusalMs;
    return refused();
  }

  /** Ends the session, and opens no other one. */
  async finish(): Promise<void> {
    this.#finished = true;
    await this.close();
  }

  /** What others open meanwhile is theirs. */
  async close(): Promise<void> {
    const current = await this.#taken();
    if (current !== undefined && !(await this.#sessions.end(current.session, current)))
      this.#options.log.warn('a BMC session could not be ended; it ends by its time-out');
  }

  /** The current proof, which is nobody's from now on. */
  async #taken(): Promise<Authorization | undefined> {
    for (;;) {
      const seen = this.#current;
      const current = (await seen?.catch(ignore)) ?? undefined;
      if (this.#current !== seen) continue;
      this.#current = undefined;
      return current;
    }
  }

  async #open(): Promise<Authorization> {
    const lost = this.#sessions.remembered;
    const fresh = await this.#prove();
    if (lost !== undefined) await this.#sessions.endLost(lost, fresh);
    return fresh;
  }

  async #prove(): Promise<Authorization> {
    if (this.#finished) throw finished();
    if (this.#options.clock.now() < this.#restUntil) throw refused();
    const path = await this.#sessions.path();
    if (path === undefined) return this.#basic(this.#logins.current, 'the BMC has no session service');
    for (let refusals = 0; ; ) {
      const login = this.#logins.current;
      const answer = await this.#sessions.ask(path, login);
      if (answer === undefined)
        return this.#basic(login, 'the login broke off, and a second session shall not be held', true);
      if (isSuccess(answer)) return this.#sessionOf(answer, login);
      if (answer.status !== 401)
        return this.#basic(login, `the session was refused with HTTP ${answer.status}`, true);
      // With two logins the first one is tried again as well: its 401 may have been such a whim.
      if (++refusals >= refusalsInARow + this.#logins.count - 1) throw this.refuse();
      this.#logins.turn(login);
      await this.#options.clock.sleep(1000);
    }
  }

  #sessionOf(answer: Answer, login: Login): Authorization {
    this.accountToChange = passwordChangeAt(messagesOf(answer.body));
    return this.#sessions.opened(answer, login) ?? this.#basic(login, 'the BMC does not name its sessions');
  }

  /** `forNow`: sessions there are, only none for us just now. */
  #basic(login: Login, why: string, forNow = false): Authorization {
    const { log, clock } = this.#options;
    log.info({ why }, 'Basic authentication is used for this BMC');
    const pair = Buffer.from(`${login.username}:${login.password}`).toString('base64');
    const headers = { authorization: `Basic ${pair}` };
    return forNow ? { headers, login, until: clock.now() + basicForMs } : { headers, login };
  }
}

function refused(): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    'the BMC refuses user name or password: correct the secret; it is not tried again for five minutes, lest the account be locked',
    { reason: 'credentials-refused' },
  );
}

/** A session that is opened now would be ended by nobody. */
function finished(): RailheadError {
  return new RailheadError('UNAVAILABLE', 'the BMC is no longer in use: ask again', { reason: 'stopping' });
}
