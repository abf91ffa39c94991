import { backoffMs } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { type Login, type LoginMemory, Logins, type NextLogin } from '#base/logins.ts';
import { Slots } from '#base/slots.ts';
import { checkCredentials } from './credentialBounds.ts';
import { type Failure, failureOf, ipmiError } from './failures.ts';
import { commandsFile, passwordFile, type RunningTool, runTool, startTool, type ToolRun } from './session.ts';

/** Cipher suites, best first: 17 is HMAC-SHA256, 3 HMAC-SHA1; what is below them does not protect the password (IPMI 2.0 table 22-20). */
const cipherSuites = [17, 3] as const;

/** Which suite a BMC is known to speak. */
export interface CipherMemory {
  find(address: string): number | undefined;
  keep(address: string, suite: number): void;
}

export interface IpmiOptions {
  /** `ipmi://host[:port]`. */
  address: string;
  username: string;
  password: string;
  /** What the user is being given in the password's place: one of the two is right. */
  next?: NextLogin | undefined;
  /** Which login the BMC took last. */
  logins?: LoginMemory;
  /** The program, default `ipmitool`. */
  program?: string;
  ciphers: CipherMemory;
  log: Log;
  clock: Clock;
}

/** One command, by default 20 seconds: three tries of three seconds each, and what a session needs before. */
const commandMs = 20_000;
const retries = { seconds: 3, times: 3 };
const pause = { firstMs: 1000, maxMs: 10_000 };
const mostTries = 3;
/** BMCs lock accounts that are tried too often: after a refusal nothing is sent for this long. */
const restMs = 300_000;
/** IPMI 2.0 §20.1: harmless, and every BMC answers it. */
const getDeviceId = [0x06, 0x01] as const;

interface Request {
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  /** Whether it may be sent again when no answer came: it only reads, or ends in the same state. */
  repeatable?: boolean;
  /** A command that shows nowhere, in the place of the one that is named. */
  hidden?: readonly string[];
}

/** IPMI commands to one BMC by ipmitool (RMCP+), one at a time. */
export class IpmiClient {
  readonly clock: Clock;
  readonly #options: IpmiOptions;
  readonly #target: readonly string[];
  readonly #logins: Logins;
  readonly #turn = new Slots(1);
  #role: 'ADMINISTRATOR' | 'OPERATOR' = 'ADMINISTRATOR';
  #restUntil = 0;

  constructor(options: IpmiOptions) {
    this.#options = options;
    this.clock = options.clock;
    const { hostname, port } = new URL(options.address);
    const host = hostname.replace(/^\[|\]$/g, '');
    this.#target = ['-H', host, '-p', port || '623'];
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
    const { program = 'ipmitool', ciphers, address } = this.#options;
    const args = [...this.#session(ciphers.find(address) ?? cipherSuites[0]), ...command];
    return startTool({ program, args, password: this.#logins.current.password });
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
      const run = await this.#once(command, request);
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

  /** With the suite that is known, else with each that there is; a user who is no administrator is an operator from then on. */
  async #once(command: readonly string[], request: Request): Promise<ToolRun> {
    const { address, ciphers, log } = this.#options;
    const known = ciphers.find(address);
    let last: ToolRun | undefined;
    for (const suite of new Set([known ?? cipherSuites[0], ...cipherSuites])) {
      last = await this.#by(suite, command, request);
      const kind = last.status === 0 ? undefined : failureOf(last).kind;
      if (kind === undefined || kind === 'completion') {
        if (suite !== known) {
          ciphers.keep(address, suite);
          log.debug({ suite }, 'the BMC speaks this cipher suite');
        }
        return last;
      }
      // Some BMCs do not answer at all to a suite that they do not know.
      if (kind !== 'cipher-suite' && (kind !== 'no-session' || known !== undefined)) return last;
    }
    return last as ToolRun;
  }

  async #by(suite: number, command: readonly string[], request: Request): Promise<ToolRun> {
    const run = await this.#tool(suite, command, request);
    if (run.status === 0 || this.#role === 'OPERATOR' || failureOf(run).kind !== 'privilege') return run;
    this.#role = 'OPERATOR';
    return this.#tool(suite, command, request);
  }

  #tool(
    suite: number,
    command: readonly string[],
    { timeoutMs = commandMs, signal, hidden }: Request,
  ): Promise<ToolRun> {
    const { program = 'ipmitool' } = this.#options;
    const { password } = this.#logins.current;
    const timing = ['-N', String(retries.seconds), '-R', String(retries.times)];
    // One -v has it say why no session came about; of tables it would make something else.
    const talk = isTable(command) || hidden !== undefined ? [] : ['-v'];
    const sent = hidden === undefined ? command : ['exec', commandsFile];
    const args = [...this.#session(suite), ...timing, ...talk, ...sent];
    return runTool({ program, args, password, commands: hidden?.join(' '), timeoutMs, signal });
  }

  #session(suite: number): string[] {
    const login = ['-U', this.#logins.current.username, '-f', passwordFile];
    return ['-I', 'lanplus', ...this.#target, ...login, '-C', String(suite), '-L', this.#role];
  }

  #check(): void {
    checkCredentials(this.#logins.current);
    if (this.clock.now() < this.#restUntil)
      throw ipmiError({ kind: 'credentials', words: 'not tried again yet' }, 'session');
  }
}

function isTable(command: readonly string[]): boolean {
  return ['fru', 'sdr', 'sel'].includes(command.find((word) => !word.startsWith('-')) ?? '');
}

function mayPass({ kind }: Failure, { repeatable = false }: Request): boolean {
  return kind === 'busy' || (repeatable && (kind === 'timeout' || kind === 'no-session'));
}

export function rawCommand(bytes: readonly number[]): string[] {
  return ['raw', ...bytes.map((byte) => `0x${byte.toString(16).padStart(2, '0')}`)];
}

/** The hexadecimal bytes that `raw` prints; anything else among them is passed over. */
export function parseBytes(text: string): Buffer {
  const lines = text.split('\n').filter((line) => /^(\s*[0-9a-f]{2})+\s*$/i.test(line));
  return Buffer.from((lines.join(' ').match(/[0-9a-f]{2}/gi) ?? []).map((byte) => Number.parseInt(byte, 16)));
}
