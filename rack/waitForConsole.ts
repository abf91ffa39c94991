import { on } from 'node:events';
import { watch } from 'node:fs';
import { open } from 'node:fs/promises';
import { RailheadError } from '#contract/errors.ts';

export interface ConsoleMatch {
  match: RegExpExecArray;
  /** Where a search for what comes next begins: the offset in the log after the line of this match. */
  end: number;
  /** When the line of the match began. */
  at: Date;
}

export interface ConsoleWait {
  timeoutMs: number;
  signal?: AbortSignal;
  /** Offset in the log to search from; 0, its beginning, by default. */
  from?: number;
}

interface LoggedMachine {
  name: string;
  consoleLog: string;
}

/**
 * Waits until a line of a machine's console log matches. Each line begins with a time stamp and a space, which are not
 * part of what is matched.
 * @throws RailheadError UNAVAILABLE with the last lines of the console when `timeoutMs` passes; the signal's reason
 */
export async function waitForConsole(
  machine: LoggedMachine,
  pattern: RegExp,
  { timeoutMs, signal, from = 0 }: ConsoleWait,
): Promise<ConsoleMatch> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    return await firstMatch(machine.consoleLog, stateless(pattern), from, either);
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (timeout.aborted) throw await notSeen(machine, pattern, timeoutMs);
    throw error;
  }
}

async function firstMatch(
  file: string,
  pattern: RegExp,
  from: number,
  signal: AbortSignal,
): Promise<ConsoleMatch> {
  const watcher = watch(file);
  // Listening begins before the first look, so that nothing written in between is missed.
  const changes = on(watcher, 'change', { signal });
  try {
    let next = from;
    for (;;) {
      const found = search(await readFrom(file, next), pattern, next);
      if ('match' in found) return found;
      next = found.next;
      await changes.next();
    }
  } finally {
    watcher.close();
  }
}

const stampLength = new Date(0).toISOString().length;

/** The first match, or where to look on: at the beginning of the last line, which may still grow. */
function search(text: string, pattern: RegExp, from: number): ConsoleMatch | { next: number } {
  let next = from;
  for (const line of text.split('\n')) {
    const end = next + Buffer.byteLength(line) + 1;
    const match = pattern.exec(line.slice(stampLength + 1));
    if (match !== null) return { match, end, at: new Date(line.slice(0, stampLength)) };
    next = end;
  }
  return { next: from + Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)) };
}

/** Without the flags that make a pattern remember where it was. */
function stateless({ source, flags }: RegExp): RegExp {
  return new RegExp(source, flags.replaceAll(/[gy]/g, ''));
}

async function readFrom(file: string, from: number): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.max(0, size - from));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function notSeen(
  { name, consoleLog }: LoggedMachine,
  pattern: RegExp,
  timeoutMs: number,
): Promise<RailheadError> {
  const console = (await readFrom(consoleLog, 0)).trimEnd().split('\n').slice(-15);
  return new RailheadError(
    'UNAVAILABLE',
    `${pattern} did not come on the console of ${name} within ${timeoutMs} ms; it ends with "${console.at(-1)}"; see ${consoleLog}`,
    { reason: 'console-timeout', console },
  );
}
