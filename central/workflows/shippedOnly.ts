import { RailheadError } from '#contract/errors.ts';
import { builtinTenant } from '../profiles/builtin.ts';
import type { StepRun } from './stepRun.ts';

/** @throws RailheadError FORBIDDEN for a profile of a tenant: who may have this done is said by an action of its own */
export async function refuseTenants(run: StepRun, message: string, path: string): Promise<void> {
  const { profile_tenant_id: tenantId } = await run.central.store
    .selectFrom('workflows')
    .select('profile_tenant_id')
    .where('workflow_id', '=', run.workflow.workflow_id)
    .executeTakeFirstOrThrow();
  if (tenantId !== builtinTenant)
    throw new RailheadError('FORBIDDEN', message, { path, reason: 'shipped-only' });
}
