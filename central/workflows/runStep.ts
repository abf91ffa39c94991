import { RailheadError, toWireError, type WireError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';
import { steps } from '#contract/steps.ts';
import { validate } from '#contract/validate.ts';
import type { CentralContext } from '../context.ts';
import { workflowTopic } from '../signals.ts';
import { isDatabaseFailure } from '../store/failures.ts';
import { fromNow, now } from '../store/store.ts';
import type { PlannedStep } from './plan.ts';
import { type ClaimedWorkflow, changeStep, type StepRow } from './records.ts';
import { awaitRejoin } from './rejoin.ts';
import { CentreStopping, StepCancelled, type StepResult, type StepRun } from './stepRun.ts';
import { executors } from './steps/index.ts';
import { timeoutSignal, until } from './timeouts.ts';
import { unlessWithdrawn } from './withdrawn.ts';

/** Failures that another attempt may cure; the others say that the request itself is wrong. */
const curable: readonly WireError['code'][] = ['DRIVER_ERROR', 'UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL'];

/** What can interrupt a step. */
export interface Interrupts {
  /** The workflow was cancelled. */
  cancelled: AbortSignal;
  /** The centre stops. */
  closing: AbortSignal;
}

/**
 * Runs one attempt of a step, or goes on with the one that was interrupted, and stores how it ended.
 * @throws CentreStopping when the centre stops meanwhile, and what the database fails with: neither is the step's failure,
 *   so nothing is stored and the step can be run again from where it stands
 */
export async function runStep(
  central: CentralContext,
  workflow: ClaimedWorkflow,
  row: StepRow,
  interrupts: Interrupts,
): Promise<void> {
  const step = JSON.parse(row.step) as PlannedStep;
  const { closing } = interrupts;
  // Cleanup runs to its end even when the workflow is cancelled.
  const interrupt = step.phase === 'cleanup' ? closing : AbortSignal.any([interrupts.cancelled, closing]);
  const tried = { ...row, attempt: row.state === 'running' ? row.attempt : row.attempt + 1 };
  try {
    await until(row.not_before, interrupt);
    const end = await endOf(tryOnce(central, workflow, tried, step, { interrupt, closing }));
    if ('result' in end) await succeed(central, workflow, row, end.result);
    else await failOrRetry(central, workflow, tried, step, end.failure);
  } catch (error) {
    if (!(error instanceof StepCancelled)) throw error;
    await cancel(central, workflow, row);
  }
}

/**
 * How an attempt ended by itself.
 * @throws what ended it from outside: StepCancelled, CentreStopping, an error of the database
 */
async function endOf(attempted: Promise<StepResult>): Promise<{ result: StepResult } | { failure: unknown }> {
  try {
    return { result: await attempted };
  } catch (failure) {
    if (failure instanceof StepCancelled || failure instanceof CentreStopping) throw failure;
    if (isDatabaseFailure(failure)) throw failure;
    return { failure };
  }
}

/** One attempt, from its start to what it returns. */
async function tryOnce(
  central: CentralContext,
  workflow: ClaimedWorkflow,
  row: StepRow,
  step: PlannedStep,
  { interrupt, closing }: { interrupt: AbortSignal; closing: AbortSignal },
): Promise<StepResult> {
  const deadline = await begin(central, workflow, row, step);
  const profile = JSON.parse(workflow.profile) as Profile;
  const stop = AbortSignal.any([interrupt, timeoutSignal(deadline, timedOut(step))]);
  const place = { stepId: row.step_id, attempt: row.attempt, deadline };
  return attempt({ central, workflow, profile, step, ...place, stop, closing });
}

async function attempt(run: StepRun): Promise<StepResult> {
  const input = validate(steps[run.step.use].input, run.step.with);
  const execute = executors[run.step.use] as (run: StepRun, input: unknown) => Promise<StepResult>;
  return unlessWithdrawn(run, async () => {
    const result = await execute(run, input);
    if (run.step.await === 'rejoin') await awaitRejoin(run);
    return result;
  });
}

/**
 * Starts the attempt of `row`, or takes it up where it was interrupted, with some time to hear what happened meanwhile. Returns
 * when it is given up.
 */
async function begin(
  { store, times, signals }: CentralContext,
  workflow: ClaimedWorkflow,
  row: StepRow,
  step: PlannedStep,
): Promise<string> {
  if (row.state === 'running' && row.deadline !== null) {
    const deadline = [row.deadline, fromNow(times.resumeGraceMs)].toSorted().at(-1) ?? row.deadline;
    await changeStep(store, workflow, row, {
      set: { deadline },
      event: 'resumed',
      text: 'where it was interrupted',
    });
    return deadline;
  }
  const { attempt } = row;
  const deadline = fromNow(step.timeoutMs);
  const set = { state: 'running' as const, attempt, deadline, started_at: now(), not_before: null };
  await changeStep(store, workflow, row, { set, event: 'started', data: { attempt, deadline } });
  signals.notify(workflowTopic(workflow.workflow_id));
  return deadline;
}

async function succeed(
  { store }: CentralContext,
  workflow: ClaimedWorkflow,
  row: StepRow,
  result: StepResult,
) {
  const set = {
    state: 'succeeded' as const,
    result: JSON.stringify(result),
    error: null,
    finished_at: now(),
  };
  await changeStep(store, workflow, row, { set, event: 'succeeded', data: result });
}

async function cancel({ store }: CentralContext, workflow: ClaimedWorkflow, row: StepRow) {
  const set = { state: 'cancelled' as const, finished_at: now() };
  await changeStep(store, workflow, row, { set, event: 'cancelled' });
}

async function failOrRetry(
  { store, times, log }: CentralContext,
  workflow: ClaimedWorkflow,
  row: StepRow,
  step: PlannedStep,
  cause: unknown,
): Promise<void> {
  const error = toWireError(cause);
  if (error.code === 'INTERNAL')
    log.error({ err: cause, workflowId: workflow.workflow_id, use: step.use }, 'step failed');
  const again = curable.includes(error.code) && row.attempt <= step.retries;
  const shared = { attempt: row.attempt, error: JSON.stringify(error) };
  if (again) {
    const notBefore = fromNow(times.retryDelayMs * 2 ** (row.attempt - 1));
    const set = { ...shared, state: 'pending' as const, not_before: notBefore };
    await changeStep(store, workflow, row, {
      set,
      event: 'retrying',
      text: error.message,
      data: { error, notBefore },
    });
  } else {
    const set = { ...shared, state: 'failed' as const, finished_at: now() };
    await changeStep(store, workflow, row, { set, event: 'failed', text: error.message, data: error });
  }
}

function timedOut(step: PlannedStep): RailheadError {
  const message = `${step.use} did not end within ${step.timeoutMs / 1000} s`;
  return new RailheadError('UNAVAILABLE', message, { reason: 'timeout', timeoutMs: step.timeoutMs });
}
