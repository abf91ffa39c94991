import { toWireError } from '#contract/errors.ts';
import type { CentralContext } from '../context.ts';
import { workflowTopic } from '../signals.ts';
import { decideNext, isDecisiveFailure } from './decide.ts';
import {
  changeStep,
  findWorkflow,
  finishWorkflow,
  type StepRow,
  stepsOf,
  type WorkflowRow,
} from './records.ts';
import { runStep } from './runStep.ts';
import { CentreStopping, StepCancelled } from './stepRun.ts';

/** Runs the stored workflows, each by itself, one step after the other. */
export interface Engine {
  /** Runs a stored workflow from wherever it stands. */
  run(workflowId: string): void;
  /** Interrupts the running step of a workflow whose row says that it is cancelled. */
  cancel(workflowId: string): void;
  /** Takes up every workflow that was running when the centre ended. */
  resume(): Promise<void>;
  /** Stops between two facts: nothing half-decided is stored. */
  close(): Promise<void>;
}

export function openEngine(central: CentralContext): Engine {
  const closing = new AbortController();
  const running = new Map<string, { cancel: AbortController; done: Promise<void> }>();

  function run(workflowId: string): void {
    if (closing.signal.aborted || running.has(workflowId)) return;
    const cancel = new AbortController();
    const done = runToEnd(central, workflowId, { cancel, closing: closing.signal })
      .catch((error) => {
        if (!(error instanceof CentreStopping))
          central.log.error({ err: error, workflowId }, 'workflow stands still');
      })
      .finally(() => running.delete(workflowId));
    running.set(workflowId, { cancel, done });
  }

  return {
    run,
    cancel: (workflowId) => running.get(workflowId)?.cancel.abort(new StepCancelled()),
    resume: async () => {
      const rows = await central.store
        .selectFrom('workflows')
        .select('workflow_id')
        .where('state', '=', 'running')
        .execute();
      for (const row of rows) run(row.workflow_id);
    },
    close: async () => {
      closing.abort(new CentreStopping());
      await Promise.all(Array.from(running.values(), ({ done }) => done));
    },
  };
}

async function runToEnd(
  central: CentralContext,
  workflowId: string,
  { cancel, closing }: { cancel: AbortController; closing: AbortSignal },
): Promise<void> {
  for (;;) {
    closing.throwIfAborted();
    const workflow = await findWorkflow(central.store, workflowId);
    if (workflow === undefined || workflow.state !== 'running') return;
    if (workflow.cancel_requested_at !== null) cancel.abort(new StepCancelled());
    const steps = await stepsOf(central.store, workflowId);
    const move = decideNext(steps, workflow.cancel_requested_at !== null);
    if (move.kind === 'run')
      await runStep(central, workflow, move.step, { cancelled: cancel.signal, closing });
    if (move.kind === 'skip') await skip(central, workflow, move.steps);
    if (move.kind === 'finish') await finishWorkflow(central.store, workflow, move.state, failure(steps));
    central.signals.notify(workflowTopic(workflowId));
  }
}

async function skip(
  { store }: CentralContext,
  workflow: WorkflowRow,
  steps: readonly StepRow[],
): Promise<void> {
  for (const step of steps)
    await changeStep(store, workflow, step, { set: { state: 'skipped' }, event: 'skipped' });
}

/** The error of the step that ended the workflow. */
function failure(steps: readonly StepRow[]) {
  const failed = steps.find(isDecisiveFailure);
  if (failed === undefined) return undefined;
  return failed.error === null ? toWireError(undefined) : JSON.parse(failed.error);
}
