import { request } from 'undici';
import { type ConsoleWait, waitForConsole } from '../waitForConsole.ts';
import type { Line } from './line.ts';

/** What the demo's OS says on the console once it answers HTTP. */
export interface OsLine {
  hostname: string;
  image: string;
  address: string;
  at: Date;
  /** Where in the console log to search on. */
  end: number;
}

export async function waitForOs(line: Line, machine: string, wait: ConsoleWait): Promise<OsLine> {
  const pattern = /RAILHEAD-OS hostname=(\S+) image=(\S+) address=(\S+)/;
  const { match, end, at } = await waitForConsole(line.rack.machine(machine), pattern, wait);
  const [, hostname = '', image = '', address = ''] = match;
  return { hostname, image, address, at, end };
}

/** What the OS answers at `/`. */
export async function askOs(address: string): Promise<string> {
  const { body } = await request(`http://${address}/`, { headersTimeout: 10_000 });
  return body.text();
}
