import { setTimeout as sleep } from 'node:timers/promises';
import { ignore } from '#base/errors.ts';
import type { CentralContext } from './context.ts';
import { allSites, tokensTopic } from './signals.ts';
import type { Queries } from './store/store.ts';

/** How long a command of the host stays unnoticed by a running centre, in milliseconds. */
const lookEveryMs = 500;

/** Notes, in the transaction of a host's command, that a running centre has something to tell those who wait. */
export async function noteHostChange(queries: Queries): Promise<void> {
  await queries
    .updateTable('host_changes')
    .set((row) => ({ turn: row('turn', '+', 1) }))
    .execute();
}

/** Keeps the commands of the host waiting that note a change, until this transaction has ended. */
export async function holdHostChanges(queries: Queries): Promise<void> {
  await queries
    .updateTable('host_changes')
    .set((row) => ({ turn: row.ref('turn') }))
    .execute();
}

/**
 * Wakes every site's poll, and operators who wait, when a command of the host, which is another process, has changed something. Runs
 * until `stop`.
 */
export async function watchHostChanges(
  { store, signals, log }: CentralContext,
  stop: AbortSignal,
): Promise<void> {
  let known: number | undefined;
  while (!stop.aborted) {
    try {
      const { turn } = await store.selectFrom('host_changes').select('turn').executeTakeFirstOrThrow();
      if (known !== undefined && turn !== known) signals.notify(allSites, tokensTopic);
      known = turn;
    } catch (error) {
      if (!stop.aborted) log.error({ err: error }, 'changes by commands of the host are not seen now');
    }
    await sleep(lookEveryMs, undefined, { signal: stop, ref: false }).catch(ignore);
  }
}
