import type { Log } from '#base/log.ts';
import type { Login } from '#base/logins.ts';
import { failureOf } from './failures.ts';
import {
  commandsFile,
  passwordFile,
  type RunningTool,
  runTool,
  startTool,
  type ToolRun,
} from './ipmitool.ts';

/** Cipher suites, best first: 17 is HMAC-SHA256, 3 HMAC-SHA1; what is below them does not protect the password (IPMI 2.0 table 22-20). */
const cipherSuites = [17, 3] as const;

/** Which suite a BMC is known to speak. */
export interface CipherMemory {
  find(address: string): number | undefined;
  keep(address: string, suite: number): void;
}

export interface SessionOptions {
  /** `ipmi://host[:port]`. */
  address: string;
  /** The program, default `ipmitool`. */
  program?: string;
  ciphers: CipherMemory;
  log: Log;
}

export interface SessionRequest {
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  /** A command that shows nowhere, in the place of the one that is named. */
  hidden?: readonly string[];
}

/** One command, by default 20 seconds: three tries of three seconds each, and what a session needs before. */
const commandMs = 20_000;
const retries = { seconds: 3, times: 3 };

/**
 * Sessions with one BMC (RMCP+), one a command: by the cipher suite that it speaks, and as an administrator unless its user is an operator.
 * ipmitool's own words tell which of the two it does not take.
 */
export class Sessions {
  readonly #options: SessionOptions;
  readonly #program: string;
  readonly #target: readonly string[];
  #role: 'ADMINISTRATOR' | 'OPERATOR' = 'ADMINISTRATOR';

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#program = options.program ?? 'ipmitool';
    const { hostname, port } = new URL(options.address);
    this.#target = ['-H', hostname.replace(/^\[|\]$/g, ''), '-p', port || '623'];
  }

  /** Does a command with the suite that is known, else with each that there is. @throws as `runTool` */
  async run(command: readonly string[], login: Login, request: SessionRequest): Promise<ToolRun> {
    const known = this.#known;
    let last: ToolRun | undefined;
    for (const suite of new Set([known ?? cipherSuites[0], ...cipherSuites])) {
      last = await this.#asRole(suite, command, login, request);
      const kind = last.status === 0 ? undefined : failureOf(last).kind;
      if (kind === undefined || kind === 'completion') {
        this.#spoken(suite);
        return last;
      }
      // Some BMCs do not answer at all to a suite that they do not know.
      if (kind !== 'cipher-suite' && (kind !== 'no-session' || known !== undefined)) return last;
    }
    return last as ToolRun;
  }

  /** Starts a command that goes on until it is ended, by the suite that is known. @throws as `startTool` */
  start(command: readonly string[], login: Login): RunningTool {
    const args = [...this.#session(this.#known ?? cipherSuites[0], login), ...command];
    return startTool({ program: this.#program, args, password: login.password });
  }

  get #known(): number | undefined {
    return this.#options.ciphers.find(this.#options.address);
  }

  #spoken(suite: number): void {
    if (suite === this.#known) return;
    const { ciphers, address, log } = this.#options;
    ciphers.keep(address, suite);
    log.debug({ suite }, 'the BMC speaks this cipher suite');
  }

  /** A user who is no administrator is an operator from then on. */
  async #asRole(
    suite: number,
    command: readonly string[],
    login: Login,
    request: SessionRequest,
  ): Promise<ToolRun> {
    const run = await this.#tool(suite, command, login, request);
    if (run.status === 0 || this.#role === 'OPERATOR' || failureOf(run).kind !== 'privilege') return run;
    this.#role = 'OPERATOR';
    return this.#tool(suite, command, login, request);
  }

  #tool(
    suite: number,
    command: readonly string[],
    login: Login,
    { timeoutMs = commandMs, signal, hidden }: SessionRequest,
  ): Promise<ToolRun> {
    const timing = ['-N', String(retries.seconds), '-R', String(retries.times)];
    // One -v has it say why no session came about; of tables it would make something else.
    const talk = isTable(command) || hidden !== undefined ? [] : ['-v'];
    const sent = hidden === undefined ? command : ['exec', commandsFile];
    const args = [...this.#session(suite, login), ...timing, ...talk, ...sent];
    const { password } = login;
    return runTool({
      program: this.#program,
      args,
      password,
      commands: hidden?.join(' '),
      timeoutMs,
      signal,
    });
  }

  #session(suite: number, { username }: Login): string[] {
    const login = ['-U', username, '-f', passwordFile];
    return ['-I', 'lanplus', ...this.#target, ...login, '-C', String(suite), '-L', this.#role];
  }
}

/** Whether it prints a table, which does not tell a refused password from a BMC that is not there. */
export function isTable(command: readonly string[]): boolean {
  return ['fru', 'sdr', 'sel'].includes(command.find((word) => !word.startsWith('-')) ?? '');
}
