import type { Profile } from '#contract/profiles.ts';
import type { ApiContext } from '../api/method.ts';
import type { Caller } from '../api/tokens.ts';
import { type PoolPolicy, readPoolPolicy } from '../groups/poolPolicy.ts';
import { metalProfile } from '../profiles/shipped.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { startWorkflow } from '../workflows/start.ts';
import type { MetalMethod } from './states.ts';

/** A method that runs a shipped profile; `deploy` runs the one that its caller names. */
export type ShippedMethod = Exclude<MetalMethod, 'deploy'>;

/** What each method runs. Where machines never run `bcd`, what needs a ramdisk has a variant by the BMC alone. */
const profileOf: Readonly<Record<ShippedMethod, { bcd: string; none: string }>> = {
  enroll: { bcd: 'metal-enroll', none: 'metal-enroll' },
  inspect: { bcd: 'metal-inspect', none: 'metal-inspect-oob' },
  commission: { bcd: 'metal-commission', none: 'metal-commission-oob' },
  undeploy: { bcd: 'metal-release', none: 'metal-release-oob' },
  // metal.ensureRamdisk refuses there, and so the node fails with UNSUPPORTED.
  rescue: { bcd: 'metal-rescue', none: 'metal-rescue' },
  unrescue: { bcd: 'metal-unrescue', none: 'metal-unrescue' },
  retire: { bcd: 'metal-retire', none: 'metal-retire-oob' },
};

/** Runs what ships for `method` on a node. `adapted` changes the profile of machines that run `bcd`. */
export async function runShipped(
  context: ApiContext,
  method: ShippedMethod,
  node: Row<'nodes'>,
  caller: Caller,
  adapted?: Profile,
): Promise<{ workflowId: string }> {
  const agent = await agentOf(context.store, node.pool_id);
  const shipped = metalProfile(profileOf[method][agent]);
  const profile = agent === 'bcd' && adapted !== undefined ? adapted : shipped;
  return startWorkflow(context, { node, profile, method, caller });
}

/** Whether the machines of a pool run `bcd`. */
export async function agentOf(store: Queries, poolId: string | null): Promise<PoolPolicy['agent']> {
  const pool = await store
    .selectFrom('pools')
    .select('policy')
    .where('pool_id', '=', poolId ?? '')
    .executeTakeFirst();
  return pool === undefined ? 'bcd' : readPoolPolicy(pool.policy).agent;
}
