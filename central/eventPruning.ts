import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { ignore } from '#base/errors.ts';
import type { Closable } from '#base/shutdown.ts';
import type { CentralContext } from './context.ts';
import type { Store } from './store/store.ts';

const day = 24 * 3_600_000;

/**
 * How long what machines and BMCs say of themselves is kept, by type, in milliseconds: a console may have shown a password, and BMCs never
 * stop talking. What operators and workflows did is kept for good. The types are those of the index `events_that_go`.
 */
const keptMs: Readonly<Record<string, number>> = {
  'console.output': 90 * day,
  'bmc.health': 365 * day,
  'bmc.log': 365 * day,
  'bmc.events': 365 * day,
};
const everyMs = 3_600_000;
/** Rows of one transaction: nobody else waits long. */
const batch = 500;

/** Forgets old events, at the start and once an hour. Several centres on one database do no harm to each other. */
export function startEventPruning({ store, log }: Pick<CentralContext, 'store' | 'log'>): Closable {
  const stop = new AbortController();
  const done = (async () => {
    while (!stop.signal.aborted) {
      await pruneEvents(store, Date.now(), stop.signal).catch((error: unknown) =>
        log.error({ err: error }, 'old events could not be forgotten'),
      );
      await sleep(everyMs, undefined, { signal: stop.signal, ref: false }).catch(ignore);
    }
  })();
  return {
    close: async () => {
      stop.abort();
      await done;
    },
  };
}

/** Forgets what is older than it is to be kept at `now`, in milliseconds since the epoch. */
export async function pruneEvents(store: Store, now: number, stop?: AbortSignal): Promise<void> {
  for (const [type, ms] of Object.entries(keptMs))
    while (!stop?.aborted && (await pruneSome(store, type, new Date(now - ms).toISOString())) === batch);
}

/** The types are written out, as in the index: a value that is bound would not be known to be one of them. */
const thatGo: RawBuilder<boolean> = sql.raw(
  `type IN ('console.output', 'bmc.health', 'bmc.log', 'bmc.events')`,
);

async function pruneSome(store: Store, type: string, before: string): Promise<number> {
  const { numAffectedRows = 0n } = await sql`DELETE FROM events WHERE seq IN (
    SELECT seq FROM events WHERE ${thatGo} AND type = ${type} AND at < ${before} LIMIT ${batch})`.execute(
    store,
  );
  return Number(numAffectedRows);
}
