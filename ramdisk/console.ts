import { uptime } from 'node:os';

/** Tells whoever watches the machine's console one thing. */
export type Say = (text: string) => void;

/** One short line per event on standard output, marked with the seconds since the kernel started. */
export function sayOnConsole(text: string): void {
  process.stdout.write(`[railhead] ${text} at ${uptime().toFixed(1)}s\n`);
}
