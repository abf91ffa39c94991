import { on } from 'node:events';
import { watch } from 'node:fs';
import { open } from 'node:fs/promises';
import { RailheadError } from '#contract/errors.ts';

export interface ConsoleMatch {
  match: RegExpExecArray;
  /** Where the next search goes on: the offset in the log after this match's line. */
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

/**
 * Waits until a line of a machine's console log matches. Each line begins with a time stamp and a space, which are not
 * part of what is matched.
 * @throws RailheadError UNAVAILABLE with the last lines of the console when `timeoutMs` passes; the signal's reason
 */
export async function waitForConsole(
  machine: { name: string; consoleLog: string },
  pattern: RegExp,
  { timeoutMs, signal, from = 0 }: ConsoleWait,
): Promise<ConsoleMatch> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  const watcher = watch(machine.consoleLog);
  // Listening begins before the first look, so that nothing written in between is missed.
  const changes = on(watcher, 'change', { signal: either });
  try {
    for (;;) {
      const found = search(await readFrom(machine.consoleLog, from), pattern, from);
      if (found !== undefined) return found;
      await changes.next();
    }
  } catch (error) {
    if (timeout.aborted && signal?.aborted !== true) throw await notSeen(machine, pattern, timeoutMs);
    throw signal?.aborted === true ? signal.reason : error;
  } finally {
    watcher.close();
  }
}

const stampLength = new Date(0).toISOString().length;

function search(text: string, pattern: RegExp, from: number): ConsoleMatch | undefined {
  let end = from;
  for (const line of text.split('\n')) {
    end += Buffer.byteLength(line) + 1;
    const match = pattern.exec(line.slice(stampLength + 1));
    if (match !== null) return { match, end, at: new Date(line.slice(0, stampLength)) };
  }
  return undefined;
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
  machine: { name: string; consoleLog: string },
  pattern: RegExp,
  timeoutMs: number,
): Promise<RailheadError> {
  const console = (await readFrom(machine.consoleLog, 0)).trimEnd().split('\n').slice(-15);
  return new RailheadError(
    'UNAVAILABLE',
    `${pattern} did not come on the console of ${machine.name} within ${timeoutMs} ms; see ${machine.consoleLog}`,
    { reason: 'console-timeout', console },
  );
}
