import type { WireError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';
import { revokeReleasedOs } from '../join/revoke.ts';
import { parseJson, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import type { PlannedStep } from '../workflows/plan.ts';
import { type Settlement, unverifiedWipe, type WipeOutcome } from './states.ts';

type WorkflowRow = Row<'workflows'>;
type StepRow = Row<'workflow_steps'>;

/** How a workflow whose steps have all ended ends itself: a success may not be one for what it should make of its node. */
export function verdict(
  workflow: WorkflowRow,
  steps: readonly StepRow[],
  state: 'succeeded' | 'failed' | 'cancelled',
): { state: 'succeeded' | 'failed' | 'cancelled'; error?: WireError } {
  const settlement = parseJson<Settlement>(workflow.settles);
  if (state !== 'succeeded' || settlement === undefined) return { state };
  const error = unverifiedWipe(settlement, steps.filter(isMainWipe).map(wipeOutcome));
  return error === undefined ? { state } : { state: 'failed', error };
}

/** Gives a node the state that the end of its workflow leads to. */
export async function settleNode(
  queries: Queries,
  workflow: WorkflowRow,
  state: 'succeeded' | 'failed' | 'cancelled',
  error: WireError | undefined,
): Promise<void> {
  const settlement = parseJson<Settlement>(workflow.settles);
  if (settlement === undefined) return;
  const after =
    state === 'succeeded' ? afterSuccess(settlement, workflow) : afterFailure(settlement, error ?? cancelled);
  await queries.updateTable('nodes').set(after).where('node_id', '=', workflow.node_id).execute();
  if (state === 'succeeded' && settlement.method === 'undeploy')
    await revokeReleasedOs(queries, workflow.node_id, `workflow ${workflow.workflow_id}`);
}

/** A node that stays failed keeps why. */
function afterSuccess(settlement: Settlement, workflow: WorkflowRow): Partial<Row<'nodes'>> {
  const { success: state } = settlement;
  if (state === 'failed') return { state };
  return { state, failed_from: null, error: null, ...kept(settlement, workflow) };
}

function afterFailure({ during, failedFrom }: Settlement, error: WireError): Partial<Row<'nodes'>> {
  return { state: 'failed', failed_from: failedFrom ?? during, error: JSON.stringify(error) };
}

const cancelled: WireError = {
  code: 'INVALID_STATE',
  message: 'its workflow was cancelled',
  details: { reason: 'cancelled' },
};

/** What a node has besides its state: a deploy gives it role and host configuration, a release takes them. */
function kept({ method }: Settlement, workflow: WorkflowRow): Partial<Row<'nodes'>> {
  if (method === 'undeploy' || method === 'retire') return { role: null, host_config: null };
  if (method !== 'deploy') return {};
  const profile = JSON.parse(workflow.profile) as Profile;
  return { role: profile.role ?? 'host', host_config: JSON.stringify(profile.hostConfig ?? {}) };
}

function isMainWipe(step: StepRow): boolean {
  return step.phase === 'main' && (JSON.parse(step.step) as PlannedStep).use === 'disk.wipe';
}

function wipeOutcome({ state, result }: StepRow): WipeOutcome {
  const { attested = false, reason } =
    (state === 'succeeded' && parseJson<Partial<WipeOutcome>>(result)) || {};
  return { attested, reason };
}
