import { open, stat } from 'node:fs/promises';
import { request } from 'undici';
import type { Line } from '#rack/line/line.ts';
import { type ConsoleMatch, waitForConsole } from '#rack/waitForConsole.ts';

const oneMebibyte = 1 << 20;

/** What the demo's OS says on the console when it answers HTTP. */
export interface OsLine {
  hostname: string;
  image: string;
  address: string;
  /** Where in the console log to search on. */
  end: number;
}

export async function osLine(
  line: Line,
  machine: string,
  { timeoutMs, signal, from }: { timeoutMs: number; signal: AbortSignal; from?: number },
): Promise<OsLine> {
  const pattern = /RAILHEAD-OS hostname=(\S+) image=(\S+) address=(\S+)/;
  const wait = { timeoutMs, signal, ...(from === undefined ? {} : { from }) };
  const { match, end } = await waitForConsole(line.rack.machine(machine), pattern, wait);
  const [, hostname = '', image = '', address = ''] = match;
  return { hostname, image, address, end };
}

export function consoleShows(
  line: Line,
  machine: string,
  pattern: RegExp,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ConsoleMatch> {
  return waitForConsole(line.rack.machine(machine), pattern, { timeoutMs, signal });
}

/** The answer of the OS at `/`. */
export async function osAnswer(address: string): Promise<string> {
  const { body } = await request(`http://${address}/`, { headersTimeout: 10_000 });
  return body.text();
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
