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
    ...['-p', String(asked.seconds), '-W', '300000', '-x', 't'],
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
  const [offers = [], acks = []] = output.split('***Timestamps for packets:').slice(1).map(timestamps);
  const delays = acks.map(({ sent, received }) => (received - sent) * 1000).toSorted((a, b) => a - b);
  return {
    exchangesPerSecond: perSecond(offers, acks),
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

/** ACKs from the first DISCOVER to the last ACK. */
function perSecond(offers: readonly Exchange[], acks: readonly Exchange[]): number {
  const first = offers.reduce((least, { sent }) => Math.min(least, sent), Number.POSITIVE_INFINITY);
  const last = acks.reduce((most, { received }) => Math.max(most, received), 0);
  return acks.length < 2 ? 0 : acks.length / (last - first);
}

function quantile(sorted: readonly number[], part: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return Math.round(value * 100) / 100;
}
