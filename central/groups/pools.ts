import Type from 'typebox';
import { newId } from '#contract/ids.ts';
import { TenantId } from '#contract/images.ts';
import { tenantScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { siteTopic } from '../signals.ts';
import { requireSite } from '../sites.ts';
import { now } from '../store/store.ts';
import { PoolPolicy } from './poolPolicy.ts';

const CreatePool = Type.Object(
  {
    tenantId: TenantId,
    siteId: Type.String({ maxLength: 128 }),
    class: Type.Enum(['metal-host'], { default: 'metal-host' }),
    policy: PoolPolicy,
  },
  { additionalProperties: false },
);

/** Machines of one kind at one site, and what is held ready for them. */
export const pools: Group = {
  create: method({
    kind: 'mutation',
    action: 'compute:pools:manage',
    input: CreatePool,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async ({ store, signals }, { tenantId, siteId, class: poolClass, policy }) => {
      await requireSite(store, siteId);
      const poolId = newId('pool');
      const row = {
        pool_id: poolId,
        tenant_id: tenantId,
        site_id: siteId,
        class: poolClass,
        created_at: now(),
      };
      await store
        .insertInto('pools')
        .values({ ...row, policy: JSON.stringify(policy) })
        .execute();
      signals.notify(siteTopic(siteId));
      return { poolId, tenantId, siteId, class: poolClass, policy, createdAt: row.created_at };
    },
  }),
};
