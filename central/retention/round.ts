import { setTimeout as sleep } from 'node:timers/promises';
import { ignore } from '#base/errors.ts';
import type { Store } from '../store/store.ts';
import { takeFreeTurn } from '../store/turns.ts';
import { acknowledgedAlarms } from './alarms.ts';
import { auditRecordsBefore } from './audit.ts';
import { agentCertificates } from './certificates.ts';
import { consoleOutputs, machineEvents } from './events.ts';
import { joinTokens, machineJoins } from './joins.ts';
import { cutoff, type KeepDays } from './keep.ts';
import type { Removal } from './removal.ts';
import { endedWorkflows, workflowEvents } from './workflows.ts';

/** Between two batches, in milliseconds, for everyone else. */
const pauseMs = 20;
/** For how long certificates and join tokens that are good for nothing are kept; an agent may renew up to 90 days after the end of its own. */
const worthlessDays = 180;

/** What a round removed, by kind; kinds of which nothing went are left out. */
export type Removed = Record<string, number>;

/** In this order: a workflow goes after its events, a join after the operations for it. */
const kinds: readonly [
  name: string,
  days: (keep: KeepDays) => number,
  removal: (before: string) => Removal,
][] = [
  ['consoleOutput', (keep) => keep.console, consoleOutputs],
  ['machineEvents', (keep) => keep.events, machineEvents],
  ['workflowEvents', (keep) => keep.events, workflowEvents],
  ['alarms', (keep) => keep.events, acknowledgedAlarms],
  ['workflows', (keep) => keep.workflows, endedWorkflows],
  ['joins', (keep) => keep.workflows, machineJoins],
  ['joinTokens', () => worthlessDays, joinTokens],
  ['certificates', () => worthlessDays, agentCertificates],
  ['audit', (keep) => keep.audit, auditRecordsBefore],
];

/**
 * Removes what was kept long enough at `now` (milliseconds of the epoch), in small transactions with pauses, until nothing is left or `stop`.
 * Of several centres on one database one does it at a time: the others' rounds end.
 */
export async function removeOld(
  store: Store,
  keep: KeepDays,
  now: number,
  stop: AbortSignal,
): Promise<Removed> {
  const removed: Removed = {};
  for (const [name, days, removal] of kinds) {
    const before = cutoff(days(keep), now);
    if (before === undefined) continue;
    const count = await removeKind(store, removal(before), stop);
    if (count === 'taken') break;
    if (count > 0) removed[name] = count;
  }
  return removed;
}

/** How many rows went; `taken` when another centre is at it. */
async function removeKind(store: Store, removal: Removal, stop: AbortSignal): Promise<number | 'taken'> {
  let count = 0;
  while (!stop.aborted) {
    const batch = await store
      .transaction()
      .execute(async (queries) =>
        (await takeFreeTurn(queries, 'retention')) ? removal(queries) : undefined,
      );
    if (batch === undefined) return count === 0 ? 'taken' : count;
    count += batch.removed;
    if (!batch.more) break;
    await sleep(pauseMs, undefined, { signal: stop }).catch(ignore);
  }
  return count;
}
