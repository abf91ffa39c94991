import type { Profile } from '#contract/profiles.ts';
import { present } from '../nodes.ts';
import { parseJson, type Queries } from '../store/store.ts';
import type { PlannedStep } from './plan.ts';
import { type StepRow, stepsOf, type WorkflowRow } from './records.ts';

/** A workflow as lists show it. */
export function summarizeWorkflow(row: WorkflowRow) {
  const { id, version } = JSON.parse(row.profile) as Profile;
  return {
    workflowId: row.workflow_id,
    tenantId: row.tenant_id,
    nodeId: row.node_id,
    siteId: row.site_id,
    profileId: id,
    profileVersion: version,
    state: row.state,
    createdBy: row.created_by,
    createdAt: row.created_at,
    ...present({
      finishedAt: row.finished_at,
      cancelRequestedAt: row.cancel_requested_at,
      error: parseJson<unknown>(row.error),
    }),
  };
}

/** A workflow with its steps and how far the running operation is. */
export async function presentWorkflow(store: Queries, row: WorkflowRow) {
  const steps = await stepsOf(store, row.workflow_id);
  const operations = await store
    .selectFrom('operations')
    .select(['step_id', 'attempt', 'operation_id', 'progress', 'asked', 'outcome'])
    .where('workflow_id', '=', row.workflow_id)
    .execute();
  const presented = steps.map((step) => {
    const operation = operations.find((one) => one.step_id === step.step_id && one.attempt === step.attempt);
    const progress = parseJson<unknown>(operation?.progress ?? null);
    const asked = operation?.outcome === null ? operation.asked : undefined;
    return { ...presentStep(step), ...present({ operationId: operation?.operation_id, progress, asked }) };
  });
  return { ...summarizeWorkflow(row), steps: presented };
}

function presentStep(row: StepRow) {
  const { use, phase } = JSON.parse(row.step) as PlannedStep;
  return {
    stepId: row.step_id,
    use,
    phase,
    state: row.state,
    attempt: row.attempt,
    ...present({
      startedAt: row.started_at,
      deadline: row.deadline,
      finishedAt: row.finished_at,
      result: parseJson<unknown>(row.result),
      error: parseJson<unknown>(row.error),
    }),
  };
}
