import type { Sealer } from '#base/sealing.ts';
import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import type { SecretVersion } from '#contract/secrets.ts';
import { isDuplicate, now, type Queries } from './store/store.ts';
import type { Row } from './store/tables.ts';

/** What keeping a secret needs of the centre. */
export interface SecretStore {
  store: Queries;
  sealer: Sealer;
}

/** A secret's place among its tenant's. */
export interface SecretName {
  tenantId: string;
  ref: string;
}

/** Where the text of a secret is kept, encrypted, beside user data. */
function textRef(secretId: string): string {
  return `secret/${secretId}`;
}

export function findSecret(
  store: Queries,
  { tenantId, ref }: SecretName,
): Promise<Row<'tenant_secrets'> | undefined> {
  return store
    .selectFrom('tenant_secrets')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('ref', '=', ref)
    .executeTakeFirst();
}

/** Keeps a secret, encrypted; one that is there gets its next version. Run it in a transaction. */
export async function putSecret(
  { store, sealer }: SecretStore,
  name: SecretName,
  text: string,
): Promise<Row<'tenant_secrets'>> {
  const row = (await nextVersion(store, name)) ?? (await insertSecret(store, name));
  await keepText(store, row.secret_id, sealer.seal(text));
  return row;
}

/**
 * Keeps a secret that nobody has set before; the same text again changes nothing.
 * @throws RailheadError CONFLICT when it holds another text
 */
export async function putFirst(place: SecretStore, name: SecretName, text: string): Promise<void> {
  const there = await findSecret(place.store, name);
  if (there === undefined) return void (await putSecret(place, name, text));
  if ((await openSecret(place, there.secret_id)) === text) return;
  throw new RailheadError('CONFLICT', `${name.ref} holds another text: change it with secrets.set`, {
    path: 'bmc.credentialRef',
    ref: name.ref,
  });
}

export async function openSecret({ store, sealer }: SecretStore, secretId: string): Promise<string> {
  const { sealed } = await store
    .selectFrom('secrets')
    .select('sealed')
    .where('ref', '=', textRef(secretId))
    .executeTakeFirstOrThrow();
  return sealer.open(sealed);
}

/** Forgets a secret. Run it in a transaction. */
export async function dropSecret(store: Queries, secretId: string): Promise<void> {
  await store
    .updateTable('nodes')
    .set({ next_secret_id: null })
    .where('next_secret_id', '=', secretId)
    .execute();
  await store.deleteFrom('secrets').where('ref', '=', textRef(secretId)).execute();
  await store.deleteFrom('secret_deliveries').where('secret_id', '=', secretId).execute();
  await store.deleteFrom('tenant_secrets').where('secret_id', '=', secretId).execute();
}

/** Gives a secret another name, that nothing has. Run it in a transaction. */
export async function renameSecret(store: Queries, secretId: string, ref: string): Promise<void> {
  await store.updateTable('tenant_secrets').set({ ref }).where('secret_id', '=', secretId).execute();
}

/** The nodes of a tenant whose BMC is reached by this secret. */
export async function nodesWithSecret(store: Queries, { tenantId, ref }: SecretName) {
  const nodes = await store
    .selectFrom('nodes')
    .select(['node_id', 'site_id', 'bmc'])
    .where('tenant_id', '=', tenantId)
    .where('bmc', 'is not', null)
    .orderBy('node_id')
    .execute();
  return nodes.filter(({ bmc }) => credentialRef(bmc) === ref);
}

/** How the desired state of a site names the secrets that its machines' BMCs need, by `secretKey` and by their ids. */
export async function siteSecrets(store: Queries, siteId: string): Promise<Map<string, SecretVersion>> {
  const tenants = store.selectFrom('nodes').select('tenant_id').where('site_id', '=', siteId);
  const rows = await store
    .selectFrom('tenant_secrets')
    .selectAll()
    .where('tenant_id', 'in', tenants)
    .execute();
  return new Map(
    rows.flatMap((row) => [
      [secretKey(row.tenant_id, row.ref), versionOf(row)],
      [row.secret_id, versionOf(row)],
    ]),
  );
}

/** The secrets that a node's BMC is reached by, among those of its site: what it has, and what it may have in its place. */
export function bmcSecretsOf(
  node: Pick<Row<'nodes'>, 'tenant_id' | 'bmc' | 'next_secret_id'>,
  secrets: ReadonlyMap<string, SecretVersion>,
): { bmcSecret?: SecretVersion; bmcNextSecret?: SecretVersion } {
  const ref = credentialRef(node.bmc);
  const bmcSecret = ref === undefined ? undefined : secrets.get(secretKey(node.tenant_id, ref));
  const bmcNextSecret = secrets.get(node.next_secret_id ?? '');
  return { ...(bmcSecret && { bmcSecret }), ...(bmcNextSecret && { bmcNextSecret }) };
}

function secretKey(tenantId: string, ref: string): string {
  return `${tenantId} ${ref}`;
}

export function versionOf({ secret_id: secretId, version }: Row<'tenant_secrets'>): SecretVersion {
  return { secretId, version };
}

function credentialRef(bmc: string | null): string | undefined {
  return bmc === null ? undefined : (JSON.parse(bmc) as BmcBinding).credentialRef;
}

function nextVersion(
  store: Queries,
  { tenantId, ref }: SecretName,
): Promise<Row<'tenant_secrets'> | undefined> {
  return store
    .updateTable('tenant_secrets')
    .set((column) => ({ version: column('version', '+', 1), set_at: now() }))
    .where('tenant_id', '=', tenantId)
    .where('ref', '=', ref)
    .returningAll()
    .executeTakeFirst();
}

async function insertSecret(store: Queries, { tenantId, ref }: SecretName): Promise<Row<'tenant_secrets'>> {
  const at = now();
  const row = { secret_id: newId('sec'), tenant_id: tenantId, ref, version: 1, created_at: at, set_at: at };
  try {
    return await store.insertInto('tenant_secrets').values(row).returningAll().executeTakeFirstOrThrow();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new RailheadError(
      'CONFLICT',
      `${ref} was set by someone else just now: set it again`,
      { ref },
      error,
    );
  }
}

async function keepText(store: Queries, secretId: string, sealed: Buffer): Promise<void> {
  const ref = textRef(secretId);
  await store
    .insertInto('secrets')
    .values({ ref, sealed, created_at: now() })
    .onConflict((conflict) => conflict.column('ref').doUpdateSet({ sealed }))
    .execute();
}
