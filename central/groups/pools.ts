import Type from 'typebox';
import { idPattern } from '#contract/ids.ts';
import { TenantId } from '#contract/images.ts';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { tenantScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { requireHardwareProfile } from '../metal/hardwareProfiles.ts';
import { createPool, nodesOfPool, presentPool, requirePool, updatePool } from '../pools.ts';
import { nodeTopic, siteTopic } from '../signals.ts';
import { requireSite } from '../sites.ts';
import { NewPoolPolicy, PoolPolicy } from './poolPolicy.ts';

const closed = { additionalProperties: false };
const PoolId = Type.String({ maxLength: 128, pattern: idPattern('pool') });
const CreatePool = Type.Object(
  {
    tenantId: TenantId,
    siteId: Type.String({ maxLength: 128 }),
    class: Type.Enum(['metal-host'], { default: 'metal-host' }),
    policy: NewPoolPolicy,
  },
  closed,
);
const UpdatePool = Type.Object(
  {
    tenantId: TenantId,
    poolId: PoolId,
    /** The whole policy: what it leaves out is unset. */
    policy: PoolPolicy,
    /** Changes the pool only while it is at this version. */
    ifVersion: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  closed,
);

/** Machines of one kind at one site, and what is held ready for them. */
export const pools: Group = {
  create: method({
    kind: 'mutation',
    action: 'compute:pools:manage',
    input: CreatePool,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store, signals, hardwareProfiles }, input) => {
      requireHardwareProfile(hardwareProfiles, input.policy.hardwareProfile, 'policy.hardwareProfile');
      await requireSite(store, input.siteId);
      const pool = await createPool(store, input);
      signals.notify(siteTopic(pool.site_id));
      return presentPool(pool);
    },
  }),
  get: method({
    kind: 'read',
    action: 'compute:pools:read',
    input: Type.Object({ tenantId: TenantId, poolId: PoolId }, closed),
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store }, { tenantId, poolId }) => presentPool(await requirePool(store, tenantId, poolId)),
  }),
  list: method({
    kind: 'read',
    action: 'compute:pools:read',
    input: Type.Object({ tenantId: TenantId, ...pageFields }, closed),
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store }, { tenantId, limit, cursor }) => {
      let query = store.selectFrom('pools').selectAll().where('tenant_id', '=', tenantId);
      if (cursor !== undefined) query = query.where('pool_id', '>', decodeCursor(cursor, 'string')[0]);
      const rows = await query
        .orderBy('pool_id')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, (row) => [row.pool_id], presentPool);
    },
  }),
  update: method({
    kind: 'mutation',
    action: 'compute:pools:manage',
    input: UpdatePool,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store, signals, hardwareProfiles }, input) => {
      requireHardwareProfile(hardwareProfiles, input.policy.hardwareProfile, 'policy.hardwareProfile');
      const pool = await updatePool(store, input);
      const nodes = await nodesOfPool(store, pool.pool_id);
      signals.notify(siteTopic(pool.site_id), ...nodes.map(nodeTopic));
      return presentPool(pool);
    },
  }),
};
