import { desiredUnits } from '#contract/hostConfig/desired.ts';
import type { HostConfig } from '#contract/hostConfig/units.ts';
import type { BmcBinding, DriverBindings, HostSection } from '#contract/nodeSpec.ts';
import type { CentralContext } from '../context.ts';
import { readPoolPolicy } from '../groups/poolPolicy.ts';
import { bmcBindings } from '../metal/driverBindings.ts';
import { nodeLabels } from '../metal/labels.ts';
import { parseJson, type Queries } from '../store/store.ts';

/** The driver bindings of a machine. */
export async function nodeDrivers(store: Queries, nodeId: string): Promise<DriverBindings> {
  const node = await store
    .selectFrom('nodes')
    .select(['drivers', 'bmc'])
    .where('node_id', '=', nodeId)
    .executeTakeFirstOrThrow();
  return parseJson<DriverBindings>(node.drivers) ?? bmcBindings(parseJson<BmcBinding>(node.bmc));
}

/** What the installed OS converges to; undefined before its first deploy has succeeded. */
export async function hostSection(
  { store, configUnits }: Pick<CentralContext, 'store' | 'configUnits'>,
  nodeId: string,
): Promise<HostSection | undefined> {
  const node = await store
    .selectFrom('nodes')
    .leftJoin('pools', 'pools.pool_id', 'nodes.pool_id')
    .select(['host_config', 'policy'])
    .where('node_id', '=', nodeId)
    .executeTakeFirstOrThrow();
  const profile = parseJson<HostConfig>(node.host_config);
  if (profile === undefined) return undefined;
  const policy = node.policy === null ? {} : readPoolPolicy(node.policy);
  return { units: desiredUnits({ profile, policy, labels: await nodeLabels(store, nodeId), configUnits }) };
}
