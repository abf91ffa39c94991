import { RailheadError } from '#contract/errors.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/**
 * Refuses to go on with a workflow that has given a machine an image which was withdrawn since.
 * @throws RailheadError INVALID_STATE, reason `withdrawn`
 */
export async function refuseWithdrawnUse(queries: Queries, workflowId: string): Promise<void> {
  const error = await withdrawnUse(queries, workflowId);
  if (error !== undefined) throw error;
}

/** Why a workflow must not go on or succeed: it has given its machine an image that was withdrawn since. */
export async function withdrawnUse(queries: Queries, workflowId: string): Promise<RailheadError | undefined> {
  const used = await queries
    .selectFrom('node_images')
    .innerJoin('withdrawn_digests', 'withdrawn_digests.sha256', 'node_images.sha256')
    .select(['node_images.ref', 'node_images.image_id', 'node_images.sha256', 'why', 'withdrawn_at'])
    .where('node_images.workflow_id', '=', workflowId)
    .executeTakeFirst();
  return used === undefined ? undefined : withdrawnError(used, used);
}

/** That an image was withdrawn, with when and why. */
export function withdrawnError(
  { ref, image_id: imageId, sha256: digest }: Pick<Row<'images'>, 'ref' | 'image_id' | 'sha256'>,
  { why, withdrawn_at: withdrawnAt }: Pick<Row<'withdrawn_digests'>, 'why' | 'withdrawn_at'>,
): RailheadError {
  const details = { reason: 'withdrawn', imageId, ref, digest, withdrawnAt, why };
  return new RailheadError(
    'INVALID_STATE',
    `image ${ref} was withdrawn (${why}): use another version`,
    details,
  );
}
