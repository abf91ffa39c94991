import Type, { type Static } from 'typebox';
import { Vlan } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { TenantId } from '#contract/images.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import { DriverChoices } from '#contract/profiles.ts';
import type { CentralContext } from '../context.ts';
import { type PoolPolicy, readPoolPolicy } from '../groups/poolPolicy.ts';
import { nodeIdPattern } from '../nodes.ts';
import { requireSite } from '../sites.ts';
import { isDuplicate, now, type Queries, toJson } from '../store/store.ts';
import { keepTenant } from '../tenants.ts';
import { resolveDriverBindings } from './driverBindings.ts';
import { profileOf } from './hardwareProfiles.ts';
import { NodeLabels } from './labels.ts';
import { bindMac, canonicalMacs } from './macs.ts';
import { BmcCredentials, boundBmc, keepCredentials, WrittenBmc } from './writtenBmc.ts';

const closed = { additionalProperties: false };
const octet = '(25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4Pattern = `^${octet}(\\.${octet}){3}$`;

export const Enroll = Type.Object(
  {
    tenantId: TenantId,
    /** Default: a new id. */
    nodeId: Type.Optional(Type.String({ pattern: nodeIdPattern })),
    siteId: Type.String({ maxLength: 128 }),
    poolId: Type.Optional(Type.String({ maxLength: 128 })),
    /** May be empty for a machine that is known by its `uuid`: PXE discovery then proposes them. */
    macs: Type.Array(Type.String({ maxLength: 32 }), { maxItems: 32, default: [] }),
    uuid: Type.Optional(Type.String({ pattern: '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' })),
    hostname: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$' })),
    address: Type.Optional(Type.String({ pattern: ipv4Pattern })),
    /** The VLAN that it boots in, tagged; its first DHCP is without a tag all the same. */
    vlan: Type.Optional(Vlan),
    bmc: Type.Optional(WrittenBmc),
    /** Kept encrypted as what the BMC's `credentialRef` names; without it a secret set before, or a file at the site, is meant. */
    bmcCredentials: Type.Optional(BmcCredentials),
    /** Default: its pool's. */
    hardwareProfile: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    /** Drivers of this node alone, by what they are for. */
    drivers: Type.Optional(DriverChoices),
    labels: Type.Optional(NodeLabels),
  },
  closed,
);
export type Enroll = Static<typeof Enroll>;

/**
 * Puts a machine into the books, with its driver bindings, and returns its node's id.
 * @throws RailheadError INVALID_INPUT, NOT_FOUND for site or pool, CONFLICT for an id or an address that is taken
 */
export async function enrollNode(
  { store, sealer, hardwareProfiles }: Pick<CentralContext, 'store' | 'sealer' | 'hardwareProfiles'>,
  written: Enroll,
): Promise<string> {
  const input = withDriver(written);
  const { siteId } = input;
  if (input.macs.length === 0 && input.uuid === undefined)
    throw new RailheadError(
      'INVALID_INPUT',
      'macs: a machine is known by a hardware address or by its uuid',
      {
        path: 'macs',
      },
    );
  await requireSite(store, siteId);
  const hardwareProfile = profileOf(hardwareProfiles, input.hardwareProfile, await poolPolicy(store, input));
  const drivers = resolveDriverBindings({ bmc: input.bmc, hardwareProfile, overrides: input.drivers });
  const nodeId = input.nodeId ?? newId('node');
  const macs = canonicalMacs(input.macs);
  await store.transaction().execute(async (queries) => {
    await keepTenant(queries, input.tenantId);
    await takeTurn(queries, siteId);
    await insertNode(queries, nodeId, input, JSON.stringify(drivers));
    await refuseTakenAddress(queries, nodeId, input);
    for (const mac of macs) await bindMac(queries, { siteId, nodeId, mac, discoveredAt: null });
    await keepCredentials({ store: queries, sealer }, input);
  });
  return nodeId;
}

/** An enrolment whose BMC has a driver. */
type BoundEnroll = Omit<Enroll, 'bmc'> & { bmc?: BmcBinding };

function withDriver({ bmc, ...input }: Enroll): BoundEnroll {
  return bmc === undefined ? input : { ...input, bmc: boundBmc(bmc) };
}

async function poolPolicy(
  store: Queries,
  { poolId, tenantId, siteId }: BoundEnroll,
): Promise<PoolPolicy | undefined> {
  if (poolId === undefined) return undefined;
  const pool = await store
    .selectFrom('pools')
    .select('policy')
    .where('pool_id', '=', poolId)
    .where('tenant_id', '=', tenantId)
    .where('site_id', '=', siteId)
    .executeTakeFirst();
  if (pool !== undefined) return readPoolPolicy(pool.policy);
  throw new RailheadError('NOT_FOUND', `tenant ${tenantId} has no pool ${poolId} at that site`, {
    path: 'poolId',
  });
}

async function insertNode(
  queries: Queries,
  nodeId: string,
  input: BoundEnroll,
  drivers: string,
): Promise<void> {
  const { tenantId, siteId, poolId, uuid, hostname, address, vlan, bmc } = input;
  try {
    await queries
      .insertInto('nodes')
      .values({
        node_id: nodeId,
        tenant_id: tenantId,
        site_id: siteId,
        pool_id: poolId ?? null,
        uuid: uuid?.toLowerCase() ?? null,
        hostname: hostname ?? null,
        address: address ?? null,
        vlan: vlan ?? null,
        bmc: toJson(bmc),
        drivers,
        hardware_profile: input.hardwareProfile ?? null,
        labels: toJson(input.labels),
        state: 'enrolled',
        role: null,
        created_at: now(),
      })
      .execute();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new RailheadError('CONFLICT', `there is a node ${nodeId} already`, { path: 'nodeId' }, error);
  }
}

/** Enrolments at one site are made one after the other, also by several centres: the lock on its row lasts as long as the transaction. */
async function takeTurn(queries: Queries, siteId: string): Promise<void> {
  await queries.updateTable('sites').set({ site_id: siteId }).where('site_id', '=', siteId).execute();
}

/** Runs after the insert, so that of two enrolments at once the later one sees the other. */
async function refuseTakenAddress(
  queries: Queries,
  nodeId: string,
  { siteId, address }: BoundEnroll,
): Promise<void> {
  if (address === undefined) return;
  const other = await queries
    .selectFrom('nodes')
    .select('node_id')
    .where('site_id', '=', siteId)
    .where('address', '=', address)
    .where('node_id', '!=', nodeId)
    .executeTakeFirst();
  if (other !== undefined)
    throw new RailheadError('CONFLICT', `${address} is reserved for a node of this site already`, {
      path: 'address',
      address,
    });
}
