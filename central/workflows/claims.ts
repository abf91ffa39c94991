import type { CentralContext } from '../context.ts';
import { fromNow, now } from '../store/store.ts';

type Claimant = Pick<CentralContext, 'store' | 'instance' | 'times'>;

/**
 * Claims a workflow for this centre, or holds it for longer; false while another centre that shares the database has it. One
 * statement under the lock of one row, so of two centres one gets it. A centre that is gone loses what it had after `times.claimMs`.
 */
export async function claimWorkflow(
  { store, instance, times }: Claimant,
  workflowId: string,
): Promise<boolean> {
  const claim = { centre: instance, until: fromNow(times.claimMs) };
  const held = await store
    .insertInto('workflow_claims')
    .values({ workflow_id: workflowId, ...claim })
    .onConflict((conflict) =>
      conflict
        .column('workflow_id')
        .doUpdateSet(claim)
        .where((where) =>
          where.or([
            where('workflow_claims.centre', '=', instance),
            where('workflow_claims.until', '<', now()),
          ]),
        ),
    )
    .returning('workflow_id')
    .executeTakeFirst();
  return held !== undefined;
}

/** Gives a workflow back, ended or not. */
export async function releaseWorkflow({ store, instance }: Claimant, workflowId: string): Promise<void> {
  await store
    .deleteFrom('workflow_claims')
    .where('workflow_id', '=', workflowId)
    .where('centre', '=', instance)
    .execute();
}
