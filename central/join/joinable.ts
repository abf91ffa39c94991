import { RailheadError } from '#contract/errors.ts';
import { requireSite } from '../sites.ts';
import type { Queries } from '../store/store.ts';

/** @throws RailheadError NOT_FOUND when nobody of that role and id is in the books */
export async function requireJoinable(store: Queries, role: 'site' | 'node', id: string): Promise<void> {
  if (role === 'site') {
    await requireSite(store, id);
    return;
  }
  const node = await store.selectFrom('nodes').select('node_id').where('node_id', '=', id).executeTakeFirst();
  if (node === undefined)
    throw new RailheadError('NOT_FOUND', `there is no node ${id}: enroll it first`, { path: 'nodeId' });
}
