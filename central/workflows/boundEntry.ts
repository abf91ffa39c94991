import type { BootEntry } from '#contract/bootEntry.ts';
import { newId } from '#contract/ids.ts';
import { fromNow, now } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import type { StepRun } from './stepRun.ts';

/** Hours, so that a machine boots while the centre is away. */
const entryValidMs = 6 * 3_600_000;

/** The part that every boot entry has: which machine it is for, at which site, and until when. */
export async function boundEntry(
  { central }: StepRun,
  node: Row<'nodes'>,
): Promise<Omit<BootEntry, 'ramdisk' | 'iso'>> {
  const macs = await central.store
    .selectFrom('node_macs')
    .select('mac')
    .where('node_id', '=', node.node_id)
    .execute();
  return {
    entryId: newId('be'),
    siteId: node.site_id,
    nodeId: node.node_id,
    macs: macs.map((row) => row.mac).toSorted(),
    ...(node.uuid === null ? {} : { uuid: node.uuid }),
    ...(node.vlan === null ? {} : { vlan: node.vlan }),
    issuedAt: now(),
    expiresAt: fromNow(entryValidMs),
  };
}

/** The workflow's node. */
export function nodeOf({ central, workflow }: StepRun): Promise<Row<'nodes'>> {
  return central.store
    .selectFrom('nodes')
    .selectAll()
    .where('node_id', '=', workflow.node_id)
    .executeTakeFirstOrThrow();
}
