import { once } from 'node:events';
import { ignore, isENOENT } from '#base/errors.ts';
import { visible } from '#base/visible.ts';
import type { ConsoleOutput, ConsoleSession } from '#console/session.ts';
import { RailheadError } from '#contract/errors.ts';
import type { IpmiClient } from './client.ts';
import { failureOf, ipmiError } from './failures.ts';
import { missing, type RunningTool } from './ipmitool.ts';
import { SolKeys } from './solKeys.ts';

export interface SolOptions {
  output: ConsoleOutput;
  /** End the session that somebody else has: a BMC has one for all. */
  takeOver?: boolean;
  limitMs?: number;
}

/**
 * What ipmitool 1.8.19 says once the serial port is joined (`lib/ipmi_sol.c`). Into a pipe it writes its greeting together with the first output, be
 * that hours later; that it finds no terminal it says at once, right after the greeting.
 */
const greeting = '[SOL Session operational.  Use ~? for help]\n';
const joinedWords = /tcgetattr|SOL Session operational/;
/** How long ipmitool may take to give the port back, in milliseconds; a BMC that is gone is asked in vain. */
const leaveMs = 3000;

/**
 * Joins the serial port of a machine by Serial over LAN (IPMI 2.0 §15). ipmitool works without a terminal: it reads keys and
 * writes output by pipes as they come.
 * @throws RailheadError DRIVER_ERROR (`console-busy`, `sol-off`, or as IpmiClient)
 */
export async function openSol(client: IpmiClient, options: SolOptions): Promise<ConsoleSession> {
  if (options.takeOver) await client.attempt(['sol', 'deactivate'], { repeatable: true });
  const tool = await client.start(['sol', 'activate']);
  const said = new Said(tool);
  tool.stdin.on('error', ignore);
  tool.stdout.on('data', withoutGreeting(options.output));
  try {
    await whenJoined(tool, said, options.limitMs ?? 20_000);
  } catch (error) {
    tool.kill('SIGKILL');
    throw isENOENT(error) ? missing('ipmitool', error) : notJoined(said.words);
  }
  return sessionOf(tool, said);
}

/** The last that ipmitool says on its standard error. */
class Said {
  words = '';
  #hear: () => void = ignore;

  constructor(tool: RunningTool) {
    tool.stderr.setEncoding('latin1').on('data', (text: string) => {
      this.words = (this.words + text).slice(-4096);
      this.#hear();
    });
  }

  /** Calls `hear` whenever there is more. */
  onMore(hear: () => void): void {
    this.#hear = hear;
  }
}

function whenJoined(tool: RunningTool, said: Said, limitMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const limit = setTimeout(() => reject(new Error('no answer in time')), limitMs);
  said.onMore(() => {
    if (joinedWords.test(said.words)) resolve();
  });
  tool.once('error', reject);
  tool.once('close', () => reject(new Error('ended')));
  return promise.finally(() => clearTimeout(limit));
}

/** What ipmitool says first is not the machine's. */
function withoutGreeting(output: ConsoleOutput): ConsoleOutput {
  let first: Buffer | undefined = Buffer.alloc(0);
  return (bytes) => {
    if (first === undefined) return output(bytes);
    first = Buffer.concat([first, bytes]);
    const text = first.toString('latin1');
    if (greeting.startsWith(text)) return;
    const rest = text.startsWith(greeting) ? first.subarray(greeting.length) : first;
    first = undefined;
    if (rest.length > 0) output(rest);
  };
}

function notJoined(words: string): RailheadError {
  if (/already active/i.test(words))
    return new RailheadError(
      'DRIVER_ERROR',
      'somebody else has the serial port by IPMI: wait, or end their session with --force',
      { reason: 'console-busy' },
    );
  if (/disabled|not supported/i.test(words))
    return new RailheadError(
      'DRIVER_ERROR',
      "Serial over LAN is off at this BMC: switch it on there, and the firmware's console redirection with it",
      { reason: 'sol-off' },
    );
  return ipmiError(failureOf({ status: 1, stderr: words, stdout: '' }), 'sol activate');
}

function sessionOf(tool: RunningTool, said: Said): ConsoleSession {
  const keys = new SolKeys();
  const closed = once(tool, 'close').then(() => lastLine(said.words));
  return {
    by: 'sol',
    ended: closed,
    write: (typed) => void (tool.stdin.writable && tool.stdin.write(keys.typed(typed))),
    close: async () => {
      tool.stdin.end();
      const limit = setTimeout(() => tool.kill('SIGKILL'), leaveMs);
      await closed;
      clearTimeout(limit);
    },
  };
}

/** What ipmitool said last that is not about itself. */
function lastLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/IANA PEN|tcgetattr/i.test(line));
  return visible(lines.at(-1)?.trim().slice(0, 300) ?? 'the BMC ended the session');
}
