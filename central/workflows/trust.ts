import { RailheadError } from '#contract/errors.ts';
import { isTrusted, type TrustLevel } from '#contract/join.ts';
import { readPoolPolicy } from '../groups/poolPolicy.ts';
import type { Row } from '../store/tables.ts';
import type { StepRun } from './stepRun.ts';

/**
 * Whether this workflow may go on with the ramdisk of `join`; asked before anything destructive or secret is made for it.
 * @throws RailheadError FORBIDDEN, reason `contested` when two machines claimed to be this one, `trust-level` when the pool's policy demands more
 */
export async function requireTrusted(run: StepRun, join: Row<'node_joins'>): Promise<void> {
  if (join.lost_reason === 'contested')
    throw new RailheadError(
      'FORBIDDEN',
      'two machines claimed to be this one: find the other one, then start a new try',
      { reason: 'contested', joinId: join.join_id },
    );
  const found = join.trust ?? 'network';
  const required = await demandedTrust(run);
  if (isTrusted(found, required)) return;
  throw new RailheadError(
    'FORBIDDEN',
    `the ramdisk's trust level is ${found}, and its pool demands ${required}: boot it verified by its firmware, or change policy.trust`,
    { reason: 'trust-level', required, found, joinId: join.join_id },
  );
}

async function demandedTrust({ central, workflow }: StepRun): Promise<TrustLevel> {
  const pool = await central.store
    .selectFrom('nodes')
    .innerJoin('pools', 'pools.pool_id', 'nodes.pool_id')
    .select('pools.policy')
    .where('nodes.node_id', '=', workflow.node_id)
    .executeTakeFirst();
  return pool === undefined ? 'network' : readPoolPolicy(pool.policy).trust;
}
