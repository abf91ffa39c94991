import type { BmcBinding, DriverBindings, HostSection } from '#contract/nodeSpec.ts';
import { bmcBindings } from '../metal/driverBindings.ts';
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
export async function hostSection(store: Queries, nodeId: string): Promise<HostSection | undefined> {
  const node = await store
    .selectFrom('nodes')
    .select('host_config')
    .where('node_id', '=', nodeId)
    .executeTakeFirstOrThrow();
  const units = parseJson<Record<string, Record<string, unknown>>>(node.host_config);
  if (units === undefined) return undefined;
  return { units: Object.entries(units).map(([unit, settings]) => ({ unit, settings })) };
}
