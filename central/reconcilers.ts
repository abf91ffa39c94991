import { setTimeout as sleep } from 'node:timers/promises';
import { ignore } from '#base/errors.ts';
import type { Closable } from '#base/shutdown.ts';
import type { CentralContext } from './context.ts';
import type { Signals } from './signals.ts';
import { now, type Queries } from './store/store.ts';
import type { Row } from './store/tables.ts';

/** Brings one thing, named by its key, to what it should be. Running it twice, or in two centres at once, does no harm. */
export type Reconciler = (context: CentralContext, key: string) => Promise<void>;

const topic = 'reconciles';
/** How long what another centre queued waits at most, in milliseconds. */
const lookEveryMs = 1_000;
/** How long after a failure the next try is, in milliseconds. */
const retryMs = 5_000;

/**
 * Queues a reconciler for a key, in the transaction that gives it reason to run: the queue outlives the centre. Queuing what
 * waits already adds nothing; queuing what runs has it run once more.
 */
export async function queueReconcile(queries: Queries, name: string, key: string): Promise<void> {
  await queries
    .insertInto('reconciles')
    .values({ name, key, turn: 1, queued_at: now() })
    .onConflict((conflict) =>
      conflict.columns(['name', 'key']).doUpdateSet((row) => ({ turn: row('reconciles.turn', '+', 1) })),
    )
    .execute();
}

/** Has what was just queued begin at once, after its transaction is through. */
export function wakeReconcilers(signals: Signals): void {
  signals.notify(topic);
}

/** Works off the queue until it is closed, beginning with what an earlier run of the centre left there. */
export function startReconcilers(
  context: CentralContext,
  reconcilers: Readonly<Record<string, Reconciler>>,
): Closable {
  const stop = new AbortController();
  const done = workOff(context, reconcilers, stop.signal);
  return {
    close: async () => {
      stop.abort();
      await done;
    },
  };
}

async function workOff(
  context: CentralContext,
  reconcilers: Readonly<Record<string, Reconciler>>,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const patience = AbortSignal.any([stop, AbortSignal.timeout(lookEveryMs)]);
    const queue = await context.signals
      .until([topic], () => waiting(context), patience)
      .catch((error) => {
        context.log.error({ err: error }, 'the queue of reconcilers cannot be read');
        return undefined;
      });
    if (queue === undefined) {
      if (!stop.aborted && !patience.aborted) await sleep(retryMs, undefined, { signal: stop }).catch(ignore);
      continue;
    }
    const failures = await runAll(context, reconcilers, queue, stop);
    if (failures > 0) await sleep(retryMs, undefined, { signal: stop }).catch(ignore);
  }
}

async function waiting({ store }: CentralContext): Promise<Row<'reconciles'>[] | undefined> {
  const rows = await store.selectFrom('reconciles').selectAll().orderBy('queued_at').limit(100).execute();
  return rows.length === 0 ? undefined : rows;
}

/** Runs what waits, one after the other; returns how many failed and stay queued. */
async function runAll(
  context: CentralContext,
  reconcilers: Readonly<Record<string, Reconciler>>,
  queue: readonly Row<'reconciles'>[],
  stop: AbortSignal,
): Promise<number> {
  let failures = 0;
  for (const row of queue) {
    if (stop.aborted) break;
    try {
      await reconcilers[row.name]?.(context, row.key);
      await finish(context.store, row);
    } catch (error) {
      failures++;
      context.log.error(
        { err: error, reconciler: row.name, key: row.key },
        'a reconciler failed; it is tried again',
      );
    }
  }
  return failures;
}

/** What was queued again meanwhile has a later turn, and stays. */
async function finish(queries: Queries, { name, key, turn }: Row<'reconciles'>): Promise<void> {
  await queries
    .deleteFrom('reconciles')
    .where('name', '=', name)
    .where('key', '=', key)
    .where('turn', '=', turn)
    .execute();
}
