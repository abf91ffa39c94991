import { RailheadError } from '#contract/errors.ts';
import type { BmcBinding, DriverBindings } from '#contract/nodeSpec.ts';
import { type Credentials, parseCredentials, type SecretVersion } from '#contract/secrets.ts';
import {
  dropSecret,
  findSecret,
  nodesWithSecret,
  openSecret,
  putSecret,
  renameSecret,
  type SecretName,
  type SecretStore,
  versionOf,
} from '../secrets.ts';
import { parseJson, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

type NodeRow = Row<'nodes'>;

/**
 * Keeps what a node's BMC is about to be given, beside what it has: it is of the site's desired state from here on. The one that is kept
 * already, of an attempt whose end nobody saw, stays, since a slow BMC may store that one yet; but for another user, or of another length, it makes
 * way. Run it in a transaction.
 */
export async function keepNext(
  place: SecretStore,
  nodeId: string,
  { username, password }: Credentials,
): Promise<SecretVersion> {
  const node = await nodeOf(place.store, nodeId);
  const kept = await nextOf(place.store, node);
  if (kept !== undefined) {
    const before = parseCredentials(await openSecret(place, kept.secret_id));
    if (before?.username === username && before.password.length === password.length) return versionOf(kept);
    await dropSecret(place.store, kept.secret_id);
  }
  const ref = await freeRef(place.store, node, `${ownRef(node)}/next`);
  const row = await putSecret(place, { tenantId: node.tenant_id, ref }, `${username}:${password}`);
  await setNext(place.store, nodeId, row.secret_id);
  return versionOf(row);
}

/** What a node's BMC may have in its password's place. */
export function nextOf(
  store: Queries,
  { next_secret_id: secretId }: Pick<NodeRow, 'next_secret_id'>,
): Promise<Row<'tenant_secrets'> | undefined> {
  return store
    .selectFrom('tenant_secrets')
    .selectAll()
    .where('secret_id', '=', secretId ?? '')
    .executeTakeFirst();
}

/**
 * Makes the next secret the node's own, by a name that no other node uses, and forgets the one before if it was its own too: what several
 * nodes share stays as it is. Run it in a transaction. Returns whether there was one, and it is the one that `secretId` names.
 */
export async function promoteNext(store: Queries, nodeId: string, secretId: unknown): Promise<boolean> {
  const node = await nodeOf(store, nodeId);
  if (secretId !== undefined && secretId !== node.next_secret_id) return false;
  const next = await nextOf(store, node);
  const bmc = parseJson<BmcBinding>(node.bmc);
  if (next === undefined || bmc === undefined) return false;
  const { ref, replaces } = await nameFor(store, node, bmc.credentialRef);
  if (replaces !== undefined) await dropSecret(store, replaces);
  await renameSecret(store, next.secret_id, ref);
  await store
    .updateTable('nodes')
    .set({ next_secret_id: null, ...bound(node, bmc, ref) })
    .where('node_id', '=', nodeId)
    .execute();
  return true;
}

/** Forgets the next secret: the BMC has the one before. Run it in a transaction. Returns whether there was one. */
export async function forgetNext(store: Queries, nodeId: string): Promise<boolean> {
  const next = await nextOf(store, await nodeOf(store, nodeId));
  if (next === undefined) return false;
  await dropSecret(store, next.secret_id);
  return true;
}

/** The node's own name for its secret, and the secret that has this name until now. */
async function nameFor(
  store: Queries,
  node: NodeRow,
  former: string | undefined,
): Promise<{ ref: string; replaces?: string }> {
  const own = ownRef(node);
  const isOwn = former !== undefined && (former === own || former.startsWith(`${own}/`));
  if (!isOwn || (await isOthers(store, node, former))) return { ref: await freeRef(store, node, own) };
  const secret = await findSecret(store, { tenantId: node.tenant_id, ref: former });
  return { ref: former, ...(secret !== undefined && { replaces: secret.secret_id }) };
}

function ownRef({ node_id: nodeId }: NodeRow): string {
  return `secret://bmc/${nodeId}`;
}

/** `wanted`, or that with the first number behind it under which nothing is kept and which no node names: a file of a site may have it. */
async function freeRef(store: Queries, node: NodeRow, wanted: string): Promise<string> {
  for (let number = 1; ; number++) {
    const ref = number === 1 ? wanted : `${wanted}/${number}`;
    const name = { tenantId: node.tenant_id, ref };
    if ((await findSecret(store, name)) === undefined && !(await isOthers(store, node, ref))) return ref;
  }
}

async function isOthers(store: Queries, node: NodeRow, ref: string): Promise<boolean> {
  const nodes = await nodesWithSecret(store, { tenantId: node.tenant_id, ref });
  return nodes.some(({ node_id: nodeId }) => nodeId !== node.node_id);
}

/** The BMC and the driver bindings, which name the secret of before too, with another one. */
function bound(node: NodeRow, bmc: BmcBinding, credentialRef: string): Partial<NodeRow> {
  const drivers = parseJson<DriverBindings>(node.drivers);
  const changed = Object.entries(drivers ?? {}).map(([concern, binding]) => {
    if (binding.config?.credentialRef !== bmc.credentialRef) return [concern, binding];
    return [concern, { ...binding, config: { ...binding.config, credentialRef } }];
  });
  return {
    bmc: JSON.stringify({ ...bmc, credentialRef }),
    ...(drivers !== undefined && { drivers: JSON.stringify(Object.fromEntries(changed)) }),
  };
}

function nodeOf(store: Queries, nodeId: string): Promise<NodeRow> {
  return store.selectFrom('nodes').selectAll().where('node_id', '=', nodeId).executeTakeFirstOrThrow();
}

async function setNext(store: Queries, nodeId: string, secretId: string): Promise<void> {
  await store.updateTable('nodes').set({ next_secret_id: secretId }).where('node_id', '=', nodeId).execute();
}

/** @throws RailheadError CONFLICT for the name of a next secret: what it holds may be all that opens the BMC of a machine in service */
export async function refuseNext(store: Queries, { tenantId, ref }: SecretName): Promise<void> {
  const node = await store
    .selectFrom('nodes')
    .innerJoin('tenant_secrets', 'tenant_secrets.secret_id', 'nodes.next_secret_id')
    .select('node_id')
    .where('tenant_secrets.tenant_id', '=', tenantId)
    .where('ref', '=', ref)
    .where('nodes.state', '!=', 'retired')
    .executeTakeFirst();
  if (node === undefined) return;
  const { node_id: nodeId } = node;
  const message = `it may be what the BMC of ${nodeId} has now: nodes.rotateBmcPassword finds out`;
  throw new RailheadError('CONFLICT', message, { path: 'ref', reason: 'next-password', nodeId });
}
