import { randomUUID } from 'node:crypto';
import type { CentralContext } from '../context.ts';
import { databaseTime } from '../store/databaseClock.ts';
import { forUpdate } from '../store/rowLocks.ts';
import type { Queries, Store } from '../store/store.ts';
import { CentreStopping } from './stepRun.ts';

type Claimant = Pick<CentralContext, 'store' | 'instance' | 'times'>;

/** One taking of a workflow by one centre. Every later taking has another id, by which a centre finds out that it lost its own. */
export interface Claim {
  workflow_id: string;
  claim_id: string;
}

/** Another centre has taken the workflow over, while this one was stopped or cut off: nothing of it may be changed here any more. */
export class ClaimLost extends CentreStopping {}

/**
 * Claims a workflow for this centre; undefined while another centre that shares the database has it. One statement under the lock of
 * one row, so of two centres one gets it. A centre that is gone loses what it had after `times.claimMs`, by the database's clock.
 */
export async function claimWorkflow(
  { store, instance, times }: Claimant,
  workflowId: string,
): Promise<Claim | undefined> {
  const until = databaseTime(store, times.claimMs);
  const claim = { centre: instance, claim_id: randomUUID(), until };
  return store
    .insertInto('workflow_claims')
    .values({ workflow_id: workflowId, ...claim })
    .onConflict((conflict) =>
      conflict
        .column('workflow_id')
        .doUpdateSet(claim)
        .where((where) =>
          where.or([
            where('workflow_claims.centre', '=', instance),
            where('workflow_claims.until', '<', databaseTime(store)),
          ]),
        ),
    )
    .returning(['workflow_id', 'claim_id'])
    .executeTakeFirst();
}

/** Holds a claim for longer; false when another centre has taken the workflow over. */
export async function renewClaim({ store, times }: Claimant, claim: Claim): Promise<boolean> {
  const { numUpdatedRows } = await store
    .updateTable('workflow_claims')
    .set({ until: databaseTime(store, times.claimMs) })
    .where('workflow_id', '=', claim.workflow_id)
    .where('claim_id', '=', claim.claim_id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/**
 * Does some of a workflow's writing in one transaction, which nobody can take the workflow over in: either all of it was written while
 * the claim held, or nothing.
 * @throws ClaimLost when the claim holds no more
 */
export function underClaim<Value>(
  store: Store,
  { workflow_id: workflowId, claim_id: claimId }: Claim,
  write: (queries: Queries) => Promise<Value>,
): Promise<Value> {
  return store.transaction().execute(async (queries) => {
    const query = queries
      .selectFrom('workflow_claims')
      .select('claim_id')
      .where('workflow_id', '=', workflowId)
      .where('claim_id', '=', claimId);
    if ((await forUpdate(queries, query).executeTakeFirst()) === undefined) throw new ClaimLost();
    return write(queries);
  });
}

/** Gives a workflow back, ended or not. */
export async function releaseClaim(store: Queries, claim: Claim): Promise<void> {
  await store
    .deleteFrom('workflow_claims')
    .where('workflow_id', '=', claim.workflow_id)
    .where('claim_id', '=', claim.claim_id)
    .execute();
}

/** The running workflows that this centre may take: that nobody has claimed, or a centre that is gone, or this one before it ended. */
export async function takeableWorkflows({ store, instance }: Claimant): Promise<string[]> {
  const rows = await store
    .selectFrom('workflows')
    .leftJoin('workflow_claims', 'workflow_claims.workflow_id', 'workflows.workflow_id')
    .select('workflows.workflow_id')
    .where('workflows.state', '=', 'running')
    .where((where) =>
      where.or([
        where('workflow_claims.centre', 'is', null),
        where('workflow_claims.centre', '=', instance),
        where('workflow_claims.until', '<', databaseTime(store)),
      ]),
    )
    .execute();
  return rows.map((row) => row.workflow_id);
}
