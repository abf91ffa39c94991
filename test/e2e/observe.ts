import { open, stat } from 'node:fs/promises';
import type { Line } from '#rack/line/line.ts';
import { type ConsoleMatch, waitForConsole } from '#rack/waitForConsole.ts';

const oneMebibyte = 1 << 20;

export function consoleShows(
  line: Line,
  machine: string,
  pattern: RegExp,
  timeoutMs: number,
  signal: AbortSignal,
  from = 0,
): Promise<ConsoleMatch> {
  return waitForConsole(line.rack.machine(machine), pattern, { timeoutMs, signal, from });
}

/** Whether nothing was ever written to a disk's file: it is as sparse as it was made. */
export async function isUntouched(file: string): Promise<boolean> {
  return (await stat(file)).blocks === 0;
}

/** Whether the first and the last MiB are zero, so that no firmware finds anything to start. */
export async function isUnbootable(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const edges = [0, size - oneMebibyte].map(async (position) => {
      const buffer = Buffer.alloc(oneMebibyte);
      await handle.read(buffer, 0, oneMebibyte, position);
      return buffer.every((byte) => byte === 0);
    });
    return (await Promise.all(edges)).every(Boolean);
  } finally {
    await handle.close();
  }
}
