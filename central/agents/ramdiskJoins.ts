import type { RamdiskJoin } from '#contract/join.ts';
import type { CentralContext } from '../context.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { endOperation } from './operationEnds.ts';
import type { ReportedEvent } from './reportSchema.ts';

export async function recordRamdiskJoin(
  queries: Queries,
  joinId: string,
  nodeId: string,
  join: RamdiskJoin,
  event: ReportedEvent,
): Promise<void> {
  await queries
    .insertInto('node_joins')
    .values({
      join_id: joinId,
      node_id: nodeId,
      role: 'ramdisk',
      boot_id: join.bootId,
      signing_key: JSON.stringify(join.signingKey),
      sealing_key: JSON.stringify(join.sealingKey),
      trust: join.trust,
      at: event.at,
      received_at: now(),
      lost_at: null,
      lost_reason: null,
    })
    .execute();
}

/** Notes that the site has lost the node's ramdisk, or turned it away, whichever join it came by. */
export async function recordLoss(queries: Queries, nodeId: string, event: ReportedEvent): Promise<void> {
  await queries
    .updateTable('node_joins')
    .set({ lost_at: event.at, lost_reason: event.reason === 'contested' ? 'contested' : 'silent' })
    .where('node_id', '=', nodeId)
    .where('role', '=', 'ramdisk')
    .where('lost_at', 'is', null)
    .where('at', '<=', event.at)
    .execute();
}

/** The newest join of a node's ramdisk. */
export function newestRamdiskJoin(queries: Queries, nodeId: string): Promise<Row<'node_joins'> | undefined> {
  return queries
    .selectFrom('node_joins')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('role', '=', 'ramdisk')
    .orderBy('at', 'desc')
    .orderBy('join_id', 'desc')
    .executeTakeFirst();
}

/**
 * Ends the operations of a ramdisk that is no more: another boot has joined in its place, or its site has lost it.
 * A machine that was told to restart is expected to fall silent, so only another boot ends that.
 */
export async function endLostOperations(
  context: CentralContext,
  nodeId: string,
  event: ReportedEvent,
  cause: string,
): Promise<void> {
  const open = await context.store
    .selectFrom('operations')
    .innerJoin('node_joins', 'node_joins.join_id', 'operations.join_id')
    .selectAll('operations')
    .select(['node_joins.boot_id', 'node_joins.lost_at'])
    .where('operations.node_id', '=', nodeId)
    .where('operations.outcome', 'is', null)
    .execute();
  const newest = await newestRamdiskJoin(context.store, nodeId);
  for (const operation of open) {
    const replaced = newest !== undefined && newest.boot_id !== operation.boot_id;
    const silent =
      event.type !== 'agent.joined' && operation.lost_at !== null && operation.action !== 'boot.kexec';
    if (replaced || silent) await endOperation(context, operation, lostEnd(operation.action, event), cause);
  }
}

function lostEnd(action: string, event: ReportedEvent) {
  if (event.reason === 'contested') {
    const message = `two machines claimed to be this one while ${action} ran: find the other one`;
    const error = { code: 'FORBIDDEN' as const, message, details: { reason: 'contested', action } };
    return { outcome: 'failed' as const, error, finishedAt: event.at };
  }
  const why = event.type === 'agent.joined' ? 'the machine booted again' : 'the site lost its ramdisk';
  const message = `${why} while ${action} ran: start a new try`;
  const error = { code: 'DRIVER_ERROR' as const, message, details: { reason: 'ramdisk-lost', action } };
  return { outcome: 'failed' as const, error, finishedAt: event.at };
}
