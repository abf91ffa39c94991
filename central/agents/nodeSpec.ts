import type { NodeSpec, NodeSpecContent, NodeSpecRole } from '#contract/nodeSpec.ts';
import type { CentralContext } from '../context.ts';
import { now, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { hostSection, nodeDrivers } from './hostSpec.ts';
import { siteSection } from './siteSpec.ts';

/** Whose desired state is meant. A machine has two: its ramdisk's and its installed OS's. */
export interface SpecOwner {
  role: NodeSpecRole;
  id: string;
}

/**
 * The desired state of an agent as it is now. Its generation grows when the content changed since it was last asked for,
 * and past `observed` when that is ahead (the centre's database was restored from a backup).
 */
export async function currentNodeSpec(
  context: CentralContext,
  owner: SpecOwner,
  observed: number,
): Promise<NodeSpec> {
  const content = await contentFor(context, owner);
  const generation = await generationOf(context.store, owner, JSON.stringify(content), observed);
  return { nodeId: owner.id, role: owner.role, generation, ...content };
}

async function contentFor(context: CentralContext, { role, id }: SpecOwner): Promise<NodeSpecContent> {
  if (role === 'site') return { site: await siteSection(context, id) };
  const drivers = await nodeDrivers(context.store, id);
  if (role === 'ramdisk') return { drivers };
  const host = await hostSection(context, id);
  return host === undefined ? { drivers } : { drivers, host };
}

/** The generation that stands for `content`; a new one when the books have another. */
async function generationOf(
  store: Queries,
  owner: SpecOwner,
  content: string,
  observed: number,
): Promise<number> {
  for (;;) {
    const row = await specRow(store, owner);
    if (row.content === content && observed <= row.generation) return row.generation;
    const generation = Math.max(row.generation, observed) + 1;
    // Two polls at once count on from the same row: the second one finds it changed, and looks again.
    const { numUpdatedRows } = await store
      .updateTable('node_specs')
      .set({ generation, content })
      .where('role', '=', owner.role)
      .where('node_id', '=', owner.id)
      .where('generation', '=', row.generation)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 1n) return generation;
  }
}

async function specRow(store: Queries, { role, id }: SpecOwner): Promise<Row<'node_specs'>> {
  const found = await findSpec(store, { role, id });
  if (found !== undefined) return found;
  const unseen = { generation: 0, content: null, observed_generation: 0, observed_at: null };
  await store
    .insertInto('node_specs')
    .values({ role, node_id: id, ...unseen })
    .onConflict((conflict) => conflict.columns(['role', 'node_id']).doNothing())
    .execute();
  return specRow(store, { role, id });
}

/** Notes the generation that an agent says it has observed. */
export async function noteObserved(store: Queries, owner: SpecOwner, observed: number): Promise<void> {
  await specRow(store, owner);
  await store
    .updateTable('node_specs')
    .set({ observed_generation: observed, observed_at: now() })
    .where('role', '=', owner.role)
    .where('node_id', '=', owner.id)
    .execute();
}

/** How far an agent is behind: the generation that stands for its desired state now, and the one it has observed. */
export async function specProgress(
  context: CentralContext,
  owner: SpecOwner,
): Promise<{ generation: number; observedGeneration: number }> {
  const { generation } = await currentNodeSpec(context, owner, 0);
  const row = await specRow(context.store, owner);
  return { generation, observedGeneration: row.observed_generation };
}

export function findSpec(store: Queries, { role, id }: SpecOwner): Promise<Row<'node_specs'> | undefined> {
  return store
    .selectFrom('node_specs')
    .selectAll()
    .where('role', '=', role)
    .where('node_id', '=', id)
    .executeTakeFirst();
}
