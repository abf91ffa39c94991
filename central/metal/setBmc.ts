import Type, { type Static } from 'typebox';
import { isOtherBmc } from '#contract/bmcBinding.ts';
import { RailheadError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import type { BmcBinding, DriverBindings } from '#contract/nodeSpec.ts';
import { runningWorkflow } from '../agents/runningWorkflow.ts';
import { acknowledgeAlarms } from '../alarms.ts';
import { forgetNext } from '../bmcPasswords/next.ts';
import type { CentralContext } from '../context.ts';
import { recordEvent, takeLine } from '../events.ts';
import { readPoolPolicy } from '../groups/poolPolicy.ts';
import { nodeIdPattern, requireNode } from '../nodes.ts';
import { parseJson, type Queries, toJson } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { workflowRunning } from '../workflows/start.ts';
import { overridesIn, resolveDriverBindings } from './driverBindings.ts';
import { type HardwareProfiles, profileOf } from './hardwareProfiles.ts';
import { BmcCredentials, boundBmc, keepCredentials, WrittenBmc } from './writtenBmc.ts';

/** The whole of what a node's BMC is: what is left out is as it is without. `null`: the node has none. */
export const SetBmc = Type.Object(
  {
    tenantId: TenantId,
    nodeId: Type.String({ pattern: nodeIdPattern }),
    bmc: Type.Union([WrittenBmc, Type.Null()]),
    /** Kept encrypted as what the BMC's `credentialRef` names. */
    bmcCredentials: Type.Optional(BmcCredentials),
    /** Also in the middle of a change of its password: what it may have been given is forgotten. */
    force: Type.Boolean({ default: false }),
  },
  { additionalProperties: false },
);
export type SetBmc = Static<typeof SetBmc>;

/**
 * Gives a node another BMC in the books, with the driver bindings that it makes, and forgets what the one before has told.
 * @throws RailheadError INVALID_INPUT, NOT_FOUND for the node, CONFLICT while a workflow runs on it (`workflow-running`) or its password is
 *   being changed (`next-password`)
 */
export async function setBmc(
  { store, sealer, hardwareProfiles }: Pick<CentralContext, 'store' | 'sealer' | 'hardwareProfiles'>,
  { tenantId, nodeId, bmc: written, bmcCredentials, force }: SetBmc,
  cause: string,
): Promise<void> {
  const bmc = written === null ? undefined : boundBmc(written);
  const text = bmc === undefined ? 'the node has no BMC any more' : `the node's BMC is ${placeText(bmc)}`;
  await store.transaction().execute(async (queries) => {
    // No workflow begins on the node until the transaction ends.
    await takeLine(queries, nodeId);
    const node = await requireNode(queries, tenantId, nodeId);
    if ((await runningWorkflow(queries, nodeId)) !== undefined) throw workflowRunning(nodeId);
    await endPasswordChange(queries, node, force, cause);
    await queries
      .updateTable('nodes')
      .set({
        bmc: toJson(bmc),
        drivers: JSON.stringify(await driversWith(queries, node, bmc, hardwareProfiles)),
        ...(isOtherBmc(bmcOf(node), bmc) && { health: null, health_at: null }),
      })
      .where('node_id', '=', nodeId)
      .execute();
    await keepCredentials({ store: queries, sealer }, { tenantId, bmc, bmcCredentials });
    await recordEvent(queries, { type: 'bmc.set', nodeId, text, cause, data: { bmc } });
  });
}

function placeText({ driver, address, credentialRef }: BmcBinding): string {
  return address === undefined ? driver : `${driver} at ${address}, by ${credentialRef}`;
}

function bmcOf({ bmc }: Row<'nodes'>): BmcBinding | undefined {
  return parseJson<BmcBinding>(bmc);
}

/** Which of two passwords the BMC of before has is not to be forgotten by the way: it may only be at another address. */
async function endPasswordChange(
  queries: Queries,
  { node_id: nodeId, next_secret_id: next }: Row<'nodes'>,
  force: boolean,
  cause: string,
): Promise<void> {
  if (next === null) return;
  if (!force) {
    const message = `a change of its BMC's password has not been seen to its end: nodes.rotateBmcPassword finds out; with force what it may have been given is forgotten`;
    throw new RailheadError('CONFLICT', message, { path: 'nodeId', reason: 'next-password', nodeId });
  }
  await forgetNext(queries, nodeId);
  await acknowledgeAlarms(queries, { nodeId }, cause, 'bmc-password-unknown');
}

/** What the node is driven by from now on: its hardware profile, and what it was enrolled with of its own, stay above its BMC. */
async function driversWith(
  queries: Queries,
  node: Row<'nodes'>,
  bmc: BmcBinding | undefined,
  hardwareProfiles: HardwareProfiles,
): Promise<DriverBindings> {
  const pool = await queries
    .selectFrom('pools')
    .select('policy')
    .where('pool_id', '=', node.pool_id ?? '')
    .executeTakeFirst();
  const policy = pool && readPoolPolicy(pool.policy);
  const hardwareProfile = profileOf(hardwareProfiles, node.hardware_profile, policy);
  const before = bmcOf(node);
  const below = resolveDriverBindings({ bmc: before, hardwareProfile });
  const bindings = parseJson<DriverBindings>(node.drivers) ?? {};
  const overrides = overridesIn(bindings, below, { before, now: bmc });
  return resolveDriverBindings({ bmc, hardwareProfile, overrides });
}
