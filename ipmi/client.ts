import { backoffMs } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import { type Login, type LoginMemory, Logins, type NextLogin } from '#base/logins.ts';
import { Slots } from '#base/slots.ts';
import { checkCredentials } from './credentialBounds.ts';
import { type Failure, failureOf, ipmiError } from './failures.ts';
import type { RunningTool } from './ipmitool.ts';
import { parseBytes, rawCommand } from './raw.ts';
import { isTable, type SessionOptions, type SessionRequest, Sessions } from './session.ts';

export interface IpmiOptions extends SessionOptions {
  username: string;
  password: string;
  /** What the user is being given in the password's place: one of the two is right. */
  next?: NextLogin | undefined;
  /** Which login the BMC took last. */
  logins?: LoginMemory;
  clock: Clock;
}

const pause = { firstMs: 1000, maxMs: 10_000 };
const mostTries = 3;
/** BMCs lock accounts that are tried too often: after a refusal nothing is sent for this long. */
const restMs = 300_000;
/** IPMI 2.0 §20.1: harmless, and every BMC answers it. */
const getDeviceId = [0x06, 0x01] as const;

interface Request extends SessionRequest {
  /** Whether it may be sent again when no answer came: it only reads, or ends in the same state. */
  repeatable?: boolean;
}

/** IPMI commands to one BMC by ipmitool (RMCP+), one at a time. */
export class IpmiClient {
  readonly clock: Clock;
  readonly #sessions: Sessions;
  readonly #logins: Logins;
  readonly #turn = new Slots(1);
  #restUntil = 0;

  constructor(options: IpmiOptions) {
    this.clock = options.clock;
    this.#sessions = new Sessions(options);
    const { username, password, next, logins } = options;
    this.#logins = new Logins({ username, password }, next, logins ?? {});
  }

  /**
   * What ipmitool prints for a command, e.g. `['chassis', 'power', 'status']`.
   * @throws RailheadError DRIVER_ERROR (`unreachable`, `credentials-refused`, `cipher-suite`, `busy`, `refused` with the completion
   *   code), UNSUPPORTED (`ipmitool-missing`), INVALID_CONFIG as `checkCredentials`
   */
  async run(command: readonly string[], request: Request = {}): Promise<string> {
    const done = await this.attempt(command, request);
    if (done.failure !== undefined) throw ipmiError(done.failure, command.join(' '));
    return done.stdout;
  }

  /** The same, where a failed command may have printed what is of use, and the caller decides what it means. */
  attempt(command: readonly string[], request: Request = {}): Promise<{ stdout: string; failure?: Failure }> {
    return this.#turn.run(() => this.#inTurn(command, request));
  }

  /**
   * The bytes of a command's answer after its completion code, of `raw`. `bytes`: network function, command, data.
   * @throws as `run`
   */
  async raw(bytes: readonly number[], request: Request = {}): Promise<Buffer> {
    return parseBytes(await this.run(rawCommand(bytes), request));
  }

  /** The same; undefined when the BMC answers by an error of its own. @throws as `run` */
  async rawAttempt(bytes: readonly number[], request: Request = {}): Promise<Buffer | undefined> {
    const done = await this.attempt(rawCommand(bytes), request);
    if (done.failure?.kind === 'completion') return undefined;
    if (done.failure !== undefined) throw ipmiError(done.failure, 'raw');
    return parseBytes(done.stdout);
  }

  /**
   * Does a command whose bytes hold a password: it is in no argument, and no error quotes it.
   * @throws as `run`
   */
  async rawHidden(bytes: readonly number[], what: string): Promise<void> {
    await this.run([what], { hidden: rawCommand(bytes) });
  }

  /**
   * As whom the BMC takes us, by a new session.
   * @throws as `run`
   */
  async whoAmI(): Promise<Login> {
    await this.raw(getDeviceId, { repeatable: true });
    return this.#logins.current;
  }

  /** Logs in as this one from now on, and as the others only if it is refused. */
  prefer(login: Login): void {
    this.#logins.prefer(login);
  }

  /** Another login that may be right: it is tried when those before it are refused. */
  know(login: Login): void {
    this.#logins.know(login);
  }

  /**
   * Starts a command that goes on until it is ended, e.g. `['sol', 'activate']`, beside whatever else is run.
   * @throws as `run`: whether the BMC lets us in is asked first
   */
  async start(command: readonly string[]): Promise<RunningTool> {
    await this.raw(getDeviceId, { repeatable: true });
    return this.#sessions.start(command, this.#logins.current);
  }

  async #inTurn(command: readonly string[], request: Request) {
    this.#check();
    // What prints a table does not tell a refused password from a BMC that is not there.
    if (this.#logins.isOpen && (isTable(command) || request.hidden !== undefined))
      await this.#tries(rawCommand(getDeviceId), { repeatable: true });
    return this.#tries(command, request);
  }

  async #tries(command: readonly string[], request: Request) {
    for (let tries = 1, refusals = 0; ; tries++) {
      const run = await this.#sessions.run(command, this.#logins.current, request);
      if (run.status === 0) {
        this.#logins.accepted(this.#logins.current);
        return { stdout: run.stdout };
      }
      const failure = failureOf(run);
      request.signal?.throwIfAborted();
      if (failure.kind === 'completion') this.#logins.accepted(this.#logins.current);
      if (failure.kind === 'credentials' && ++refusals < this.#logins.count) {
        this.#logins.turn(this.#logins.current);
        tries--;
        continue;
      }
      if (failure.kind === 'credentials' || failure.kind === 'privilege')
        this.#restUntil = this.clock.now() + restMs;
      if (tries >= mostTries || !mayPass(failure, request)) return { stdout: run.stdout, failure };
      await this.clock.sleep(backoffMs(tries, pause), request.signal);
    }
  }

  #check(): void {
    checkCredentials(this.#logins.current);
    if (this.clock.now() < this.#restUntil)
      throw ipmiError({ kind: 'credentials', words: 'not tried again yet' }, 'session');
  }
}

function mayPass({ kind }: Failure, { repeatable = false }: Request): boolean {
  return kind === 'busy' || (repeatable && (kind === 'timeout' || kind === 'no-session'));
}
