import Type from 'typebox';
import type { Sealer } from '#base/sealing.ts';
import { canonicalMac } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { TenantId } from '#contract/images.ts';
import { BmcBinding } from '#contract/nodeSpec.ts';
import { DiskHints, PowerAction } from '#contract/steps.ts';
import { itemScopes, tenantScopes } from '../api/grants.ts';
import { type ApiContext, type Group, method } from '../api/method.ts';
import type { Caller } from '../api/tokens.ts';
import { nodeIdPattern, presentNode, requireNode } from '../nodes.ts';
import { powerProfile } from '../profiles/builtin.ts';
import { requireProfile } from '../profiles/find.ts';
import { putFirst, type SecretStore } from '../secrets.ts';
import { siteTopic } from '../signals.ts';
import { requireSite } from '../sites.ts';
import { isDuplicate, now, type Queries, type Store, toJson } from '../store/store.ts';
import { startWorkflow } from '../workflows/start.ts';

const closed = { additionalProperties: false };
const NodeId = Type.String({ pattern: nodeIdPattern });

const octet = '(25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4Pattern = `^${octet}(\\.${octet}){3}$`;

const Credentials = Type.Object(
  {
    username: Type.String({ pattern: '^[^:\\r\\n]{1,128}$' }),
    password: Type.String({ pattern: '^[^\\r\\n]{0,1024}$' }),
  },
  closed,
);

const Enroll = Type.Object(
  {
    tenantId: TenantId,
    /** Default: a new id. */
    nodeId: Type.Optional(NodeId),
    siteId: Type.String({ maxLength: 128 }),
    poolId: Type.Optional(Type.String({ maxLength: 128 })),
    macs: Type.Array(Type.String({ maxLength: 32 }), { minItems: 1, maxItems: 32 }),
    uuid: Type.Optional(Type.String({ pattern: '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' })),
    hostname: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$' })),
    address: Type.Optional(Type.String({ pattern: ipv4Pattern })),
    bmc: Type.Optional(BmcBinding),
    /** Kept encrypted as what the BMC's `credentialRef` names; without it a secret set before, or a file at the site, is meant. */
    bmcCredentials: Type.Optional(Credentials),
  },
  closed,
);
type Enroll = Type.Static<typeof Enroll>;

const Deploy = Type.Object(
  {
    tenantId: TenantId,
    nodeId: NodeId,
    profileId: Type.String({ maxLength: 128 }),
    profileVersion: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Which disk to write, before what the profile's step says. */
    disk: Type.Optional(DiskHints),
  },
  closed,
);
const Power = Type.Object({ tenantId: TenantId, nodeId: NodeId, action: PowerAction }, closed);

/** What is done to machines. Everything that drives one is a workflow. */
export const metal: Group = {
  enroll: method({
    kind: 'mutation',
    action: 'compute:metal:enroll',
    input: Enroll,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store, sealer, signals }, input) => {
      const nodeId = await enroll(store, sealer, input);
      signals.notify(siteTopic(input.siteId));
      return presentNode(store, await requireNode(store, input.tenantId, nodeId));
    },
  }),
  deploy: method({
    kind: 'mutation',
    action: 'compute:metal:deploy',
    input: Deploy,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: (context, input, caller) => deploy(context, input, caller),
  }),
  power: method({
    kind: 'mutation',
    action: 'compute:metal:power',
    input: Power,
    scopes: ({ tenantId, nodeId }) => itemScopes('compute-node', nodeId, tenantId),
    run: async (context, { tenantId, nodeId, action }, caller) => {
      const node = await requireNode(context.store, tenantId, nodeId);
      const profile = powerProfile(action);
      return startWorkflow(context, { node, profile, profileTenantId: 'builtin', caller });
    },
  }),
};

async function enroll(store: Store, sealer: Sealer, input: Enroll): Promise<string> {
  const { siteId, poolId, tenantId } = input;
  await requireSite(store, siteId);
  if (poolId !== undefined) await requirePool(store, poolId, { tenantId, siteId });
  const nodeId = input.nodeId ?? newId('node');
  const macs = canonicalMacs(input.macs);
  await store.transaction().execute(async (queries) => {
    await insertNode(queries, nodeId, input);
    await refuseTakenAddress(queries, nodeId, input);
    for (const mac of macs) await insertMac(queries, siteId, mac, nodeId);
    await keepCredentials({ store: queries, sealer }, input);
  });
  return nodeId;
}

async function keepCredentials(place: SecretStore, { tenantId, bmc, bmcCredentials }: Enroll): Promise<void> {
  if (bmcCredentials === undefined) return;
  if (bmc === undefined)
    throw new RailheadError('INVALID_INPUT', 'bmcCredentials are for a bmc: say where it is', {
      path: 'bmc',
    });
  const { username, password } = bmcCredentials;
  await putFirst(place, { tenantId, ref: bmc.credentialRef }, `${username}:${password}`);
}

async function requirePool(
  store: Queries,
  poolId: string,
  owner: { tenantId: string; siteId: string },
): Promise<void> {
  const pool = await store
    .selectFrom('pools')
    .select('pool_id')
    .where('pool_id', '=', poolId)
    .where('tenant_id', '=', owner.tenantId)
    .where('site_id', '=', owner.siteId)
    .executeTakeFirst();
  if (pool === undefined)
    throw new RailheadError('NOT_FOUND', `tenant ${owner.tenantId} has no pool ${poolId} at that site`, {
      path: 'poolId',
    });
}

function canonicalMacs(macs: readonly string[]): string[] {
  return macs.map((text, index) => {
    const mac = canonicalMac(text);
    if (mac !== undefined) return mac;
    throw new RailheadError('INVALID_INPUT', `macs[${index}]: ${text} is not a hardware address of 6 bytes`, {
      path: `macs[${index}]`,
    });
  });
}

async function insertNode(queries: Queries, nodeId: string, input: Enroll): Promise<void> {
  const { tenantId, siteId, poolId, uuid, hostname, address, bmc } = input;
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
        bmc: toJson(bmc),
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

/** Runs after the insert, so that of two enrolments at once the later one sees the other. */
async function refuseTakenAddress(
  queries: Queries,
  nodeId: string,
  { siteId, address }: Enroll,
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

async function insertMac(queries: Queries, siteId: string, mac: string, nodeId: string): Promise<void> {
  try {
    await queries.insertInto('node_macs').values({ site_id: siteId, mac, node_id: nodeId }).execute();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const message = `${mac} belongs to a node of this site already`;
    throw new RailheadError('CONFLICT', message, { path: 'macs', mac }, error);
  }
}

async function deploy(context: ApiContext, input: Type.Static<typeof Deploy>, caller: Caller) {
  const { tenantId, nodeId, profileId, profileVersion, disk } = input;
  const node = await requireNode(context.store, tenantId, nodeId);
  const { profile, tenantId: profileTenantId } = await requireProfile(
    context,
    tenantId,
    profileId,
    profileVersion,
  );
  if (profile.target !== 'metal' || profile.image === undefined)
    throw new RailheadError('INVALID_INPUT', `profile ${profileId} deploys no image to a machine`, {
      path: 'profileId',
    });
  return startWorkflow(context, { node, profile, profileTenantId, method: 'deploy', disk, caller });
}
