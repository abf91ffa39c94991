import { RailheadError } from '#contract/errors.ts';
import type { Addressee } from '../agents/addressees.ts';
import { findOperation } from '../agents/operations.ts';
import { newestRamdiskJoin } from '../agents/ramdiskJoins.ts';
import { nodeTopic } from '../signals.ts';
import type { Row } from '../store/tables.ts';
import { resultOf } from './results.ts';
import { type StepRun, waitFor } from './stepRun.ts';
import { requireTrusted } from './trust.ts';

/**
 * The ramdisk that this workflow booted: the newest join of the node that came after its boot entry was placed, of a
 * boot that had not joined before. Both times are the site's own, so clocks need not agree. Without a boot entry, the one
 * that `metal.ensureRamdisk` found counts, and what the centre heard since the workflow began.
 */
export async function joinedRamdisk(run: StepRun): Promise<Row<'node_joins'> | undefined> {
  const joins = await run.central.store
    .selectFrom('node_joins')
    .selectAll()
    .where('node_id', '=', run.workflow.node_id)
    .where('role', '=', 'ramdisk')
    .orderBy('at')
    .orderBy('join_id')
    .execute();
  const entryPlacedAt = await bootEntryTime(run);
  const adopted = await resultOf<{ bootId: string }>(run, 'metal.ensureRamdisk');
  const isLater = (join: Row<'node_joins'>) => {
    if (entryPlacedAt !== undefined) return join.at >= entryPlacedAt;
    return join.boot_id === adopted?.bootId || join.received_at >= run.workflow.created_at;
  };
  const earlierBoots = new Set(joins.filter((join) => !isLater(join)).map((join) => join.boot_id));
  return joins.findLast((join) => isLater(join) && !earlierBoots.has(join.boot_id));
}

/** What ends a machine's ramdisk, unless it fails. */
export const endsRamdisk = ['boot.cleanUp', 'power.setPower', 'boot.kexec'] as const;

/** The ramdisk that the machine runs now, whichever workflow booted it: joined last, not lost, and nothing has ended it since. */
export async function connectedRamdisk({
  central,
  workflow,
}: StepRun): Promise<Row<'node_joins'> | undefined> {
  const join = await newestRamdiskJoin(central.store, workflow.node_id);
  if (join === undefined || join.lost_at !== null) return undefined;
  const ended = await central.store
    .selectFrom('operations')
    .select('operation_id')
    .where('node_id', '=', workflow.node_id)
    .where('action', 'in', endsRamdisk)
    .where('outcome', '!=', 'failed')
    .where('finished_at', '>=', join.at)
    .executeTakeFirst();
  return ended === undefined ? join : undefined;
}

export type RamdiskAddressee = Extract<Addressee, { target: 'ramdisk' }>;

/**
 * The ramdisk that a step's operation is for; after a crash the one that was asked already. A further attempt
 * waits until the machine has booted its ramdisk again.
 * @throws RailheadError INVALID_STATE when this workflow's ramdisk has not joined, or is lost; FORBIDDEN when it is not trusted enough
 */
export async function ramdiskAddressee(run: StepRun): Promise<RamdiskAddressee> {
  const asked = await findOperation(run.central.store, run.stepId, run.attempt);
  if (asked?.join_id != null) return { target: 'ramdisk', joinId: asked.join_id };
  if (run.attempt > 1) return waitFor(run, [nodeTopic(run.workflow.node_id)], () => readyRamdisk(run));
  const running = await runningRamdisk(run);
  if (running !== undefined) return running;
  throw noRamdisk('no ramdisk of this workflow is connected');
}

/**
 * This workflow's ramdisk, unless it has left for the OS that it started.
 * @throws RailheadError FORBIDDEN when it is not trusted enough
 */
export async function runningRamdisk(run: StepRun): Promise<RamdiskAddressee | undefined> {
  const ready = await readyRamdisk(run);
  if (ready === undefined) return undefined;
  const left = await run.central.store
    .selectFrom('operations')
    .select('operation_id')
    .where('join_id', '=', ready.joinId)
    .where('action', '=', 'boot.kexec')
    .where('outcome', '=', 'succeeded')
    .executeTakeFirst();
  return left === undefined ? ready : undefined;
}

async function readyRamdisk(run: StepRun): Promise<RamdiskAddressee | undefined> {
  const join = await joinedRamdisk(run);
  if (join !== undefined) await requireTrusted(run, join);
  return join?.lost_at === null ? { target: 'ramdisk', joinId: join.join_id } : undefined;
}

export function noRamdisk(what: string): RailheadError {
  const message = `${what}: boot a ramdisk and wait for it first`;
  return new RailheadError('INVALID_STATE', message, { reason: 'no-ramdisk' });
}

/** When the site had placed this workflow's newest boot entry, by the site's clock. */
async function bootEntryTime({ central, workflow }: StepRun): Promise<string | undefined> {
  const operation = await central.store
    .selectFrom('operations')
    .select('finished_at')
    .where('workflow_id', '=', workflow.workflow_id)
    .where('action', '=', 'boot.prepareRamdisk')
    .where('outcome', '=', 'succeeded')
    .orderBy('operation_id', 'desc')
    .executeTakeFirst();
  return operation?.finished_at ?? undefined;
}
