import { RailheadError } from '#contract/errors.ts';
import { confirmMac, proposedMacs } from '../../metal/discovery.ts';
import { macsOf } from '../../metal/macs.ts';
import { agentOf } from '../../metal/run.ts';
import { discoveryTopic, nodeTopic, siteTopic } from '../../signals.ts';
import type { Row } from '../../store/tables.ts';
import { connectedRamdisk, joinedRamdisk } from '../ramdisk.ts';
import { hasOperations, relay } from '../relay.ts';
import { type StepResult, type StepRun, waitFor } from '../stepRun.ts';
import { requireTrusted } from '../trust.ts';
import { prepareRamdisk } from './boot.prepareRamdisk.ts';

/**
 * Sees to it that the machine runs its ramdisk: nothing is done when that is connected already. Else it is set to PXE once, its
 * boot entry is placed, it is power-cycled, and its ramdisk is waited for. A machine without a BMC must be started by hand.
 * @throws RailheadError UNSUPPORTED in a pool whose machines never run `bcd`
 */
export async function ensureRamdisk(run: StepRun): Promise<StepResult> {
  const node = await nodeOf(run);
  if ((await agentOf(run.central.store, node.pool_id)) === 'none') throw noAgent(node);
  if (!(await hasOperations(run))) {
    const connected = await connectedRamdisk(run);
    if (connected !== undefined) return found(run, connected, false);
  }
  await knowMac(run, node);
  await restartInto(run, node, 'ramdisk', () => prepareRamdisk(part(run, 'entry')));
  const join = await waitFor(run, [nodeTopic(node.node_id)], async () => {
    const newest = await joinedRamdisk(run);
    return newest?.lost_at === null ? newest : undefined;
  });
  return found(run, join, true);
}

async function found(run: StepRun, join: Row<'node_joins'>, booted: boolean): Promise<StepResult> {
  await requireTrusted(run, join);
  return { joinId: join.join_id, bootId: join.boot_id, trust: join.trust, booted };
}

/**
 * A machine that is known by its product UUID alone is booted over the network with no entry, so that its site lists it; then
 * the hardware address that discovery proposes is waited for until an operator confirms it, or the pool's policy does.
 */
async function knowMac(run: StepRun, node: Row<'nodes'>): Promise<void> {
  const { store, signals } = run.central;
  const { node_id: nodeId, site_id: siteId } = node;
  if ((await macsOf(store, nodeId)).length > 0) return;
  if ((await proposedMacs(store, node)).length === 0) await restartInto(run, node, 'discovery');
  const isTrusting = await trustsNetwork(run, node);
  await waitFor(run, [discoveryTopic(siteId), nodeTopic(nodeId)], async () => {
    if ((await macsOf(store, nodeId)).length > 0) return true;
    const [mac, ...others] = await proposedMacs(store, node);
    if (!isTrusting || mac === undefined || others.length > 0) return undefined;
    await confirmMac(store, node, mac);
    signals.notify(siteTopic(siteId));
    return true;
  });
}

/** Restarts the machine into a network boot. `prepare` runs when its next boot is set, before its power is cycled. */
async function restartInto(
  run: StepRun,
  { bmc }: Row<'nodes'>,
  what: string,
  prepare: () => Promise<unknown> = async () => {},
): Promise<void> {
  const device = { device: 'pxe', persistent: false } as const;
  if (bmc !== null) await relay(part(run, `${what}-device`), 'management.setBootDevice', async () => device);
  await prepare();
  if (bmc !== null)
    await relay(part(run, `${what}-power`), 'power.setPower', async () => ({ action: 'cycle' }));
}

function part(run: StepRun, name: string): StepRun {
  return { ...run, part: name };
}

function nodeOf({ central, workflow }: StepRun): Promise<Row<'nodes'>> {
  return central.store
    .selectFrom('nodes')
    .selectAll()
    .where('node_id', '=', workflow.node_id)
    .executeTakeFirstOrThrow();
}

async function trustsNetwork({ central }: StepRun, { pool_id: poolId }: Row<'nodes'>): Promise<boolean> {
  const pool = await central.store
    .selectFrom('pools')
    .select('policy')
    .where('pool_id', '=', poolId ?? '')
    .executeTakeFirst();
  return pool !== undefined && JSON.parse(pool.policy).trustProvisioningNetwork === true;
}

function noAgent({ node_id: nodeId }: Row<'nodes'>): RailheadError {
  const message = `the machines of this pool never run bcd (policy.agent is none), so ${nodeId} has no ramdisk to boot`;
  return new RailheadError('UNSUPPORTED', message, { reason: 'agent-none', nodeId });
}
