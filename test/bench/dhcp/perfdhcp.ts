import path from 'node:path';
import { openToolbox, type Toolbox } from '#base/debian/toolbox.ts';
import { runIn } from '#rack/netns.ts';
import type { Wire } from '../wire.ts';

/** What perfdhcp found at one rate. */
export interface Trial {
  /** Exchanges that it began each second, DISCOVER to ACK, and those that ended. */
  asked: number;
  exchangesPerSecond: number;
  /** Of DISCOVERs and of REQUESTs, the greater. */
  droppedPercent: number;
  /** Milliseconds from REQUEST to ACK. */
  p50: number;
  p99: number;
}

const cacheDirectory = path.resolve(import.meta.dirname, '../../../.cache/debian');

export function fetchPerfdhcp(): Promise<Toolbox> {
  return openToolbox(['kea-admin'], { cacheDirectory });
}

/** Kea's load generator asks as a relay does, for `clients` machines in turn. */
export async function tryRate(
  toolbox: Toolbox,
  { client }: Wire,
  asked: { rate: number; seconds: number; clients: number },
): Promise<Trial> {
  const args = [
    ...['-4', '-l', client.interfaceName, '-r', String(asked.rate), '-R', String(asked.clients)],
    ...['-p', String(asked.seconds), '-W', '500000', '-x', 't'],
  ];
  const [program, rest] = toolbox.command('usr/sbin/perfdhcp', args);
  // It ends with status 3 when something was dropped.
  const output = await runIn(client.namespace, ['sh', '-c', '"$@"; [ $? -le 3 ]', 'sh', program, ...rest], {
    timeoutMs: (asked.seconds + 20) * 1000,
  });
  return { asked: asked.rate, ...readReport(output) };
}

/** Its report in words, and with `-x t` the time of each packet that was sent and answered. */
function readReport(output: string): Omit<Trial, 'asked'> {
  const dropped = [...output.matchAll(/^drops ratio: ([\d.]+)/gm)].map(([, ratio]) => Number(ratio));
  const exchanges = timestamps(output.slice(output.indexOf('Timestamps for packets: REQUEST-ACK')));
  const delays = exchanges.map(({ sent, received }) => (received - sent) * 1000).toSorted((a, b) => a - b);
  return {
    exchangesPerSecond: perSecond(exchanges),
    droppedPercent: dropped.length === 0 ? 100 : Math.max(...dropped),
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
  };
}

interface Exchange {
  /** Seconds of one clock. */
  sent: number;
  received: number;
}

function timestamps(text: string): Exchange[] {
  const rows = text.matchAll(/sent \/ received: ([\d.]+) \/ ([\d.]+)/g);
  return [...rows].map(([, sent, received]) => ({ sent: Number(sent), received: Number(received) }));
}

/** From the first REQUEST to the last. */
function perSecond(exchanges: readonly Exchange[]): number {
  if (exchanges.length < 2) return 0;
  const sent = exchanges.map((one) => one.sent);
  const [first, last] = [sent.reduce((a, b) => Math.min(a, b)), sent.reduce((a, b) => Math.max(a, b))];
  return exchanges.length / (last - first);
}

function quantile(sorted: readonly number[], part: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return Math.round(value * 100) / 100;
}
