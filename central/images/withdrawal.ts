import { RailheadError } from '#contract/errors.ts';
import { recordEvent } from '../events.ts';
import { noteHostChange } from '../hostChanges.ts';
import { now, type Queries, type Store } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { abandonUses, type DeployedNode, nodesWith } from './deployments.ts';

/** A digest that neither deploys nor boots, with the catalog's names for it and the machines that were given it. */
export interface Withdrawal {
  digest: string;
  why: string;
  withdrawnAt: string;
  images: { imageId: string; tenantId: string; ref: string }[];
  nodes: DeployedNode[];
}

/**
 * Withdraws a digest, whether the catalog knows it or not: from now on it neither deploys nor boots anywhere. Workflows that
 * have given it to a machine are stopped wherever they stand, sites refuse and evict it as soon as they hear of it, and each
 * machine that was given it gets an event. Doing it again only changes the reason. All of it is one transaction.
 * @throws RailheadError INVALID_INPUT for what is no digest, or an empty reason
 */
export async function withdrawDigest(store: Store, digest: string, why: string): Promise<Withdrawal> {
  const sha256 = checkedDigest(digest);
  if (why.trim() === '') throw new RailheadError('INVALID_INPUT', 'say why it is withdrawn', { path: 'why' });
  return store.transaction().execute(async (queries) => {
    // First, so that what gives the digest to a machine meanwhile comes before, and is found, or after, and is refused.
    await noteHostChange(queries);
    const row = { sha256, why: why.trim(), withdrawn_at: now() };
    await queries
      .insertInto('withdrawn_digests')
      .values(row)
      .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ why: row.why }))
      .execute();
    await abandonUses(queries, sha256);
    const withdrawal = await describe(queries, { ...row, ...(await findWithdrawal(queries, sha256)) });
    await tellMachines(queries, withdrawal);
    return withdrawal;
  });
}

/**
 * Takes a withdrawal back: the digest may be used again.
 * @throws RailheadError NOT_FOUND when it is not withdrawn
 */
export async function undoWithdrawal(store: Store, digest: string): Promise<void> {
  const sha256 = checkedDigest(digest);
  await store.transaction().execute(async (queries) => {
    await noteHostChange(queries);
    const { numDeletedRows } = await queries
      .deleteFrom('withdrawn_digests')
      .where('sha256', '=', sha256)
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n)
      throw new RailheadError('NOT_FOUND', `${sha256} is not withdrawn`, { path: 'digest' });
    await recordEvent(queries, {
      type: 'image.reinstated',
      text: `${sha256} may be used again`,
      cause: 'host',
      data: { digest: sha256 },
    });
  });
}

/** Every withdrawn digest, the newest first. */
export async function listWithdrawals(store: Queries): Promise<Withdrawal[]> {
  const rows = await store
    .selectFrom('withdrawn_digests')
    .selectAll()
    .orderBy('withdrawn_at', 'desc')
    .orderBy('sha256')
    .execute();
  return Promise.all(rows.map((row) => describe(store, row)));
}

export function findWithdrawal(
  store: Queries,
  sha256: string,
): Promise<Row<'withdrawn_digests'> | undefined> {
  return store.selectFrom('withdrawn_digests').selectAll().where('sha256', '=', sha256).executeTakeFirst();
}

/** Every withdrawn digest, in a fixed order: what each site must refuse. */
export async function withdrawnDigests(store: Queries): Promise<string[]> {
  const rows = await store.selectFrom('withdrawn_digests').select('sha256').orderBy('sha256').execute();
  return rows.map(({ sha256 }) => sha256);
}

function checkedDigest(digest: string): string {
  const sha256 = digest.toLowerCase().replace(/^sha256:/, '');
  if (/^[0-9a-f]{64}$/.test(sha256)) return sha256;
  throw new RailheadError('INVALID_INPUT', 'a digest is 64 hex digits: images.get shows that of an image', {
    path: 'digest',
  });
}

async function describe(queries: Queries, row: Row<'withdrawn_digests'>): Promise<Withdrawal> {
  const images = await queries
    .selectFrom('images')
    .select(['image_id as imageId', 'tenant_id as tenantId', 'ref'])
    .where('sha256', '=', row.sha256)
    .orderBy('tenant_id')
    .orderBy('ref')
    .execute();
  const { sha256: digest, why, withdrawn_at: withdrawnAt } = row;
  return { digest, why, withdrawnAt, images, nodes: await nodesWith(queries, digest) };
}

async function tellMachines(queries: Queries, { digest, why, nodes }: Withdrawal): Promise<void> {
  const data = { digest, why };
  await recordEvent(queries, {
    type: 'image.withdrawn',
    text: `${digest} was withdrawn: ${why}`,
    cause: 'host',
    data,
  });
  for (const { nodeId, ref, state } of nodes)
    await recordEvent(queries, {
      type: 'image.withdrawn',
      text: `${ref}, ${useTexts[state]}, was withdrawn: ${why}`,
      cause: 'host',
      nodeId,
      data,
    });
}

const useTexts: Record<DeployedNode['state'], string> = {
  deployed: 'which this machine runs',
  writing: 'which was being written',
  mounted: 'which was mounted on this machine',
};
