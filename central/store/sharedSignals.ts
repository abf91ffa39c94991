import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { backoffMs } from '#base/backoff.ts';
import { systemClock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { Signals } from '../signals.ts';
import { connectionTo } from './postgres.ts';

const channel = 'railhead';
/** A notice may have 8000 bytes. */
const topicsPerNotice = 50;

/**
 * Signals that reach the other centres on the same database too (LISTEN and NOTIFY). What is notified here wakes those who wait here
 * at once. While the connection is away nothing is heard of the others; when it is back, everyone who waits looks again.
 */
export function shareSignals(local: Signals, url: string, log: Log): Signals & { close(): Promise<void> } {
  const sender = randomUUID();
  const stopping = new AbortController();
  let client: pg.Client | undefined;
  let sent: Promise<unknown> = Promise.resolve();
  const hear = (payload: string | undefined) => {
    const notice = JSON.parse(payload ?? '{}') as { from?: string; topics?: string[] };
    if (notice.from !== sender) local.notify(...(notice.topics ?? []));
  };
  const listening = keepListening(url, log, stopping.signal, {
    hear,
    connected: (now) => {
      client = now;
      if (now !== undefined) local.notifyAll();
    },
  });
  const tell = (topics: readonly string[]) => {
    for (let at = 0; at < topics.length; at += topicsPerNotice) {
      const notice = JSON.stringify({ from: sender, topics: topics.slice(at, at + topicsPerNotice) });
      sent = sent.then(() => client?.query('SELECT pg_notify($1, $2)', [channel, notice])).catch(ignore);
    }
  };
  return {
    until: local.until,
    notifyAll: local.notifyAll,
    notify: (...topics) => {
      local.notify(...topics);
      tell(topics);
    },
    close: async () => {
      stopping.abort();
      await sent;
      await client?.end().catch(ignore);
      await listening;
    },
  };
}

interface Listener {
  hear(payload: string | undefined): void;
  connected(client: pg.Client | undefined): void;
}

/** Listens until `stop` aborts, over one connection after the other. */
async function keepListening(url: string, log: Log, stop: AbortSignal, listener: Listener): Promise<void> {
  for (let failures = 0; !stop.aborted; ) {
    const client = new pg.Client(connectionTo(url));
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
    client.on('error', ignore).on('notification', ({ payload }) => listener.hear(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      failures = 0;
      listener.connected(client);
      await ended;
    } catch (error) {
      log.warn({ err: error }, 'nothing is heard of the other centres: the database cannot be reached');
      await client.end().catch(ignore);
    }
    listener.connected(undefined);
    failures++;
    await systemClock.sleep(backoffMs(failures, { firstMs: 500, maxMs: 10_000 }), stop).catch(ignore);
  }
}
