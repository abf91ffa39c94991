import { backoffMs } from '#base/backoff.ts';
import { systemClock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import { toWireError } from '#contract/errors.ts';
import type { CentralContext } from '../context.ts';
import { nodeLabels } from '../metal/labels.ts';
import { verdict } from '../metal/settle.ts';
import { nodeTopic, workflowTopic } from '../signals.ts';
import {
  type Claim,
  ClaimLost,
  claimWorkflow,
  releaseClaim,
  renewClaim,
  takeableWorkflows,
} from './claims.ts';
import { decideNext, isDecisiveFailure, type Move, type SkipReason } from './decide.ts';
import {
  type ClaimedWorkflow,
  changeStep,
  findWorkflow,
  finishWorkflow,
  type StepRow,
  stepsOf,
} from './records.ts';
import { runStep } from './runStep.ts';
import { CentreStopping, StepCancelled } from './stepRun.ts';

/** Runs the stored workflows, each by itself, one step after the other. */
export interface Engine {
  /** Runs a stored workflow from wherever it stands. */
  run(workflowId: string): void;
  /** Has a workflow heed at once that its row says it is cancelled. */
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
    const done = runClaimed(central, workflowId, { cancel, closing: closing.signal })
      .catch(ignore) // The centre stops: its next start, or another centre, takes the workflow up.
      .finally(() => running.delete(workflowId));
    running.set(workflowId, { cancel, done });
  }

  /** What was running when this centre ended, and what other centres left. */
  async function takeUp(): Promise<void> {
    for (const workflowId of await takeableWorkflows(central)) run(workflowId);
  }
  let takingUp: NodeJS.Timeout | undefined;

  return {
    run,
    cancel: (workflowId) => {
      running.get(workflowId)?.cancel.abort(new StepCancelled());
      run(workflowId);
    },
    resume: async () => {
      await takeUp();
      takingUp = setInterval(() => void takeUp().catch(ignore), central.times.claimMs / 3);
    },
    close: async () => {
      clearInterval(takingUp);
      closing.abort(new CentreStopping());
      await Promise.all(Array.from(running.values(), ({ done }) => done));
    },
  };
}

/** What ends the run of a workflow early, or interrupts its step. */
interface RunInterrupts {
  cancel: AbortController;
  closing: AbortSignal;
}

/** Runs a workflow as long as this centre's claim on it holds, and heeds a cancel that another centre was asked for. */
async function runClaimed(
  central: CentralContext,
  workflowId: string,
  { cancel, closing }: RunInterrupts,
): Promise<void> {
  const claim = await claimWorkflow(central, workflowId);
  if (claim === undefined) return;
  const ended = new AbortController();
  const stop = AbortSignal.any([closing, ended.signal]);
  const renew = async () => {
    if (!(await renewClaim(central, claim))) ended.abort(new ClaimLost());
  };
  const renewing = setInterval(() => void renew().catch(ignore), central.times.claimMs / 3);
  const cancelled = async () => {
    const workflow = await findWorkflow(central.store, workflowId);
    return workflow?.cancel_requested_at == null ? undefined : cancel.abort(new StepCancelled());
  };
  void central.signals.until([workflowTopic(workflowId)], cancelled, stop).catch(ignore);
  try {
    await runToEnd(central, claim, { cancel, closing: stop });
  } finally {
    clearInterval(renewing);
    ended.abort(new CentreStopping());
    await releaseClaim(central.store, claim);
  }
}

/** Moves a workflow on until it has ended. What fails outside of a step, such as a full disk, is tried again until it works. */
async function runToEnd(central: CentralContext, claim: Claim, interrupts: RunInterrupts): Promise<void> {
  for (let failures = 0; ; ) {
    try {
      if (await advance(central, claim, interrupts)) return;
      failures = 0;
    } catch (error) {
      if (error instanceof CentreStopping) throw error;
      interrupts.closing.throwIfAborted();
      failures++;
      central.log.error(
        { err: error, workflowId: claim.workflow_id, failures },
        'workflow stands still; it is tried again',
      );
      await pause(backoffMs(failures, { firstMs: central.times.retryDelayMs, maxMs: 60_000 }), interrupts);
    }
  }
}

/**
 * Makes the next move of a workflow; true when it has ended.
 * @throws ClaimLost when another centre has taken it over
 */
async function advance(
  central: CentralContext,
  claim: Claim,
  { cancel, closing }: RunInterrupts,
): Promise<boolean> {
  closing.throwIfAborted();
  if (!(await renewClaim(central, claim))) throw new ClaimLost();
  const { workflow_id: workflowId } = claim;
  const row = await findWorkflow(central.store, workflowId);
  if (row === undefined || row.state !== 'running') return true;
  const workflow = { ...row, ...claim };
  if (workflow.cancel_requested_at !== null) cancel.abort(new StepCancelled());
  const steps = await stepsOf(central.store, workflowId);
  const labels = await nodeLabels(central.store, workflow.node_id);
  const move = decideNext(steps, workflow.cancel_requested_at !== null, labels);
  if (move.kind === 'run') await runStep(central, workflow, move.step, { cancelled: cancel.signal, closing });
  if (move.kind === 'skip') await skip(central, workflow, move);
  if (move.kind === 'finish') await finish(central, workflow, steps, move.state);
  central.signals.notify(workflowTopic(workflowId));
  // What the installed OS is to be may have changed with the workflow's end.
  if (move.kind === 'finish') central.signals.notify(nodeTopic(workflow.node_id));
  return false;
}

/** Waits before the next try; a cancel that comes meanwhile is taken up at once. */
async function pause(milliseconds: number, { cancel, closing }: RunInterrupts): Promise<void> {
  const wake = cancel.signal.aborted ? closing : AbortSignal.any([cancel.signal, closing]);
  await systemClock.sleep(milliseconds, wake).catch(ignore);
}

async function skip(
  { store }: CentralContext,
  workflow: ClaimedWorkflow,
  { steps, reason }: Extract<Move, { kind: 'skip' }>,
): Promise<void> {
  const set = { state: 'skipped' as const, result: JSON.stringify({ reason }) };
  for (const step of steps)
    await changeStep(store, workflow, step, {
      set,
      event: 'skipped',
      text: skipTexts[reason],
      data: { reason },
    });
}

const skipTexts: Record<SkipReason, string> = {
  failed: 'a step before it failed',
  cancelled: 'the workflow was cancelled',
  when: 'its when does not hold for this node',
  fallback: 'the step that it stands in for has not failed',
};

async function finish(
  { store }: CentralContext,
  workflow: ClaimedWorkflow,
  steps: readonly StepRow[],
  outcome: 'succeeded' | 'failed' | 'cancelled',
): Promise<void> {
  const { state, error } = verdict(workflow, steps, outcome);
  await finishWorkflow(store, workflow, state, error ?? failure(steps));
}

/** The error of the step that ended the workflow. */
function failure(steps: readonly StepRow[]) {
  const failed = steps.find(isDecisiveFailure);
  if (failed === undefined) return undefined;
  return failed.error === null ? toWireError(undefined) : JSON.parse(failed.error);
}
