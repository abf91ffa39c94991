import Type from 'typebox';
import { RailheadError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import { SecretRef } from '#contract/secrets.ts';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { tenantScopes } from '../api/grants.ts';
import { type ApiContext, type Group, method } from '../api/method.ts';
import { refuseNext } from '../bmcPasswords/next.ts';
import { dropSecret, findSecret, nodesWithSecret, putSecret, type SecretName } from '../secrets.ts';
import { siteTopic } from '../signals.ts';
import type { Row } from '../store/tables.ts';
import { inTenant } from '../tenants.ts';

const closed = { additionalProperties: false };
const name = { tenantId: TenantId, ref: SecretRef };

/** Texts such as BMC credentials. They go in and are never told again: only the agents that need one get it, sealed. */
export const secrets: Group = {
  set: method({
    kind: 'mutation',
    action: 'compute:secrets:manage',
    input: Type.Object({ ...name, text: Type.String({ minLength: 1, maxLength: 16_384 }) }, closed),
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async (context, { text, ...secret }) => {
      const row = await inTenant(context.store, secret.tenantId, async (store) => {
        await refuseNext(store, secret);
        return putSecret({ store, sealer: context.sealer }, secret, text);
      });
      await tellSites(context, secret);
      return present(row);
    },
  }),
  list: method({
    kind: 'read',
    action: 'compute:secrets:read',
    input: Type.Object({ tenantId: TenantId, ...pageFields }, closed),
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: (context, input) => list(context, input),
  }),
  delete: method({
    kind: 'mutation',
    action: 'compute:secrets:manage',
    input: Type.Object({ ...name, force: Type.Boolean({ default: false }) }, closed),
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: async (context, { force, ...secret }) => {
      await refuseNext(context.store, secret);
      const row = await removable(context, secret, force);
      await context.store.transaction().execute((store) => dropSecret(store, row.secret_id));
      await tellSites(context, secret);
      return present(row);
    },
  }),
};

async function removable({ store }: ApiContext, secret: SecretName, force: boolean) {
  const row = await findSecret(store, secret);
  if (row === undefined)
    throw new RailheadError('NOT_FOUND', `tenant ${secret.tenantId} has no ${secret.ref}`, { path: 'ref' });
  const nodes = await nodesWithSecret(store, secret);
  if (nodes.length === 0 || force) return row;
  throw new RailheadError(
    'INVALID_STATE',
    `${nodes.length} nodes need it: with force their sites look for a file`,
    {
      reason: 'in-use',
      nodeIds: nodes.slice(0, 20).map((node) => node.node_id),
    },
  );
}

/** The sites whose machines need it get a new desired state. */
async function tellSites({ store, signals }: ApiContext, secret: SecretName): Promise<void> {
  const nodes = await nodesWithSecret(store, secret);
  signals.notify(...new Set(nodes.map((node) => siteTopic(node.site_id))));
}

async function list(
  { store }: ApiContext,
  { tenantId, limit, cursor }: { tenantId: string; limit: number; cursor?: string },
) {
  let query = store.selectFrom('tenant_secrets').selectAll().where('tenant_id', '=', tenantId);
  if (cursor !== undefined) query = query.where('ref', '>', decodeCursor(cursor, 'string')[0]);
  const rows = await query
    .orderBy('ref')
    .limit(limit + 1)
    .execute();
  const deliveries = await deliveriesOf(store, rows);
  return pageOf(
    rows,
    limit,
    (row) => [row.ref],
    (row) => ({
      ...present(row),
      agents: deliveries.filter((each) => each.secretId === row.secret_id).map(agent),
    }),
  );
}

async function deliveriesOf(store: ApiContext['store'], rows: readonly Row<'tenant_secrets'>[]) {
  if (rows.length === 0) return [];
  const found = await store
    .selectFrom('secret_deliveries')
    .selectAll()
    .where(
      'secret_id',
      'in',
      rows.map((row) => row.secret_id),
    )
    .orderBy('agent')
    .execute();
  return found.map(({ secret_id: secretId, ...rest }) => ({ secretId, ...rest }));
}

/** Who was given a secret: what to change when that agent's disk is stolen. */
function agent({ agent, version, at }: { agent: string; version: number; at: string }) {
  return { agent, version, at };
}

function present(row: Row<'tenant_secrets'>) {
  const { secret_id: secretId, tenant_id: tenantId, ref, version, set_at: setAt } = row;
  return { secretId, tenantId, ref, version, setAt };
}
