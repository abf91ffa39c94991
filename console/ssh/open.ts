import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, ClientChannel, ConnectConfig } from 'ssh2';
import { ignore } from '#base/errors.ts';
import { visible } from '#base/visible.ts';
import type { ConsoleOutput, ConsoleSession, SshConsole } from '../session.ts';
import { usual, withOld } from './algorithms.ts';
import { enter } from './enter.ts';
import { Entry } from './entry.ts';
import { sshError, wrongKey } from './errors.ts';
import { PortKeys } from './keys.ts';

export interface SshOptions {
  host: string;
  username: string;
  password: string;
  console: SshConsole;
  /** The key that this BMC must show, `SHA256:…` as OpenSSH writes it; without one any is taken, and told to `onHostKey`. */
  hostKey?: string | undefined;
  onHostKey(found: string): void;
  /** Algorithms that are broken or nearly so, for a BMC that has no better. */
  oldCrypto?: boolean;
  output: ConsoleOutput;
  /** End the session that somebody else has, where the BMC's command line can. */
  takeOver?: boolean | undefined;
  /** Milliseconds for the connection, and again for the session and for the dialogue. */
  limitMs?: number;
  /** A prompt after which nothing comes for so long is one; iLO prints one before the port's first output, too. Milliseconds. */
  quietMs?: number;
}

/** How often a BMC that says nothing is asked whether it still is there, in milliseconds, and how often in vain. */
const keepAlive = { everyMs: 15_000, times: 3 };
/** BMCs are given this long to take the keys that leave the serial port. */
const leaveMs = 200;
const disconnectMs = 50;

/**
 * Opens the serial port of a machine by its BMC's SSH: logs in by password or keyboard-interactive, whichever the BMC has, and types what leads to the port.
 * @throws RailheadError DRIVER_ERROR (`unreachable`, `credentials-refused`, `pin-mismatch`, `old-crypto`, `console-refused`)
 */
export async function openSsh(options: SshOptions): Promise<ConsoleSession> {
  const { host, console, limitMs = 20_000, quietMs = 1500 } = options;
  // Loaded by the first who needs it: most agents never open a console.
  const { Client } = await import('ssh2');
  const client = new Client();
  try {
    await loggedIn(client, options, limitMs);
    const channel = await shellOf(client, limitMs);
    const { free = [], commands } = console;
    const entry = new Entry({ ...console, commands: options.takeOver ? [...free, ...commands] : commands });
    const first = await enter(channel, entry, { host, limitMs, quietMs });
    if (first.length > 0) options.output(first);
    return sessionOf(client, channel, entry, { ...options, quietMs });
  } catch (error) {
    client.destroy();
    throw sshError(error as Error, host);
  }
}

async function loggedIn(client: Client, options: SshOptions, limitMs: number): Promise<void> {
  let refused: Error | undefined;
  const failed = new Promise<never>((_, reject) => {
    // Stays: what comes after the end of the session concerns nobody.
    client.on('error', (error) => reject(refused ?? error));
    client.once('close', () => reject(refused ?? new Error('it closed the connection')));
  });
  failed.catch(ignore);
  client.connect({
    ...loginOf(options),
    port: options.console.port,
    readyTimeout: limitMs,
    keepaliveInterval: keepAlive.everyMs,
    keepaliveCountMax: keepAlive.times,
    algorithms: options.oldCrypto ? withOld : usual,
    hostVerifier: (key: Buffer) => {
      const found = fingerprint(key);
      if (options.hostKey === undefined) options.onHostKey(found);
      else if (options.hostKey !== found) refused = wrongKey(options.host, options.hostKey, found);
      return refused === undefined;
    },
  });
  await Promise.race([once(client, 'ready'), failed]);
}

/** As `ssh-keygen -l` writes it. */
function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** One try with the password, by the way that the BMC names: BMCs lock accounts that are tried too often. */
function loginOf({ host, username, password }: SshOptions): ConnectConfig {
  let isTried = false;
  return {
    host,
    username,
    authHandler: ((methods: string[] | null, _partial: boolean, next: (how: unknown) => void) => {
      if (methods === null) return next({ type: 'none', username });
      if (isTried) return next(false);
      isTried = true;
      if (methods.includes('password')) return next({ type: 'password', username, password });
      return next(
        methods.includes('keyboard-interactive') && { type: 'keyboard-interactive', username, prompt },
      );
    }) as never,
  };

  /** Whatever is asked unseen is the password. */
  function prompt(
    _name: string,
    _instructions: string,
    _language: string,
    questions: readonly { echo?: boolean }[],
    answer: (answers: string[]) => void,
  ): void {
    answer(questions.map(({ echo }) => (echo ? username : password)));
  }
}

/** ssh2 has a limit for the login, and none for what comes after it. */
function shellOf(client: Client, limitMs: number): Promise<ClientChannel> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientChannel>();
  const limit = setTimeout(() => reject(new Error('it logs in and then opens no session')), limitMs);
  client.once('close', () => reject(new Error('it closed the connection')));
  client.shell({ term: 'vt100', cols: 80, rows: 24 }, (error, channel) =>
    error ? reject(error) : resolve(channel),
  );
  return promise.finally(() => clearTimeout(limit));
}

function sessionOf(
  client: Client,
  channel: ClientChannel,
  entry: Entry,
  { console, output, quietMs }: SshOptions,
): ConsoleSession {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const keys = new PortKeys(console.leave);
  let back: NodeJS.Timeout | undefined;
  const end = (why: string) => {
    clearTimeout(back);
    resolve(why);
    client.end();
  };
  channel.on('data', (bytes: Buffer) => {
    output(bytes);
    clearTimeout(back);
    if (entry.isBack(bytes.toString('latin1')))
      back = setTimeout(end, quietMs, `the BMC took the serial port away: ${visible(entry.words)}`);
  });
  channel.stderr.on('data', output);
  channel.once('close', () => end('the BMC closed the session'));
  client.once('error', (error: Error) =>
    end(`the connection broke: ${visible(error.message).slice(0, 300)}`),
  );
  client.once('close', () => end('the BMC closed the connection'));
  return {
    by: 'ssh',
    ended,
    write: (typed) => void (channel.writable && channel.write(keys.typed(typed))),
    close: async () => {
      resolve('closed');
      if (console.leave !== undefined && channel.writable) {
        channel.write(console.leave);
        await delay(leaveMs);
      }
      end('closed');
      // Not every BMC closes the connection after the disconnect message.
      await delay(disconnectMs);
      client.destroy();
    },
  };
}
