import { holds, type Labels, parseWhen } from '#contract/when.ts';
import type { PlannedStep } from './plan.ts';
import type { StepRow } from './records.ts';

/** Why a step was not run. */
export type SkipReason =
  /** A step before it failed, and with it the workflow. */
  | 'failed'
  | 'cancelled'
  /** Its `when` does not hold for the node. */
  | 'when'
  /** It is the fallback of a step that has not failed. */
  | 'fallback';

/** What a workflow does next. */
export type Move =
  | { kind: 'run'; step: StepRow }
  | { kind: 'skip'; steps: StepRow[]; reason: SkipReason }
  | { kind: 'finish'; state: 'succeeded' | 'failed' | 'cancelled' };

/**
 * The next move of a workflow from the states of its steps and the node's labels alone, so that a restart decides as the run
 * before it did. A step that was running comes first, then the main phase until it fails or is cancelled, then the cleanup in any
 * case. A step's `when` is looked at when its turn comes.
 */
export function decideNext(steps: readonly StepRow[], cancelRequested: boolean, labels: Labels): Move {
  const running = steps.find((step) => step.state === 'running');
  if (running !== undefined) return { kind: 'run', step: running };
  const main = steps.filter((step) => step.phase === 'main');
  const failed = main.some(isDecisiveFailure);
  const waiting = main.filter((step) => step.state === 'pending');
  if (waiting.length > 0 && (failed || cancelRequested))
    return { kind: 'skip', steps: waiting, reason: failed ? 'failed' : 'cancelled' };
  const next = waiting[0] ?? steps.find((step) => step.state === 'pending');
  if (next === undefined) return { kind: 'finish', state: outcome(main, failed) };
  const reason = whyNot(next, steps, labels);
  return reason === undefined ? { kind: 'run', step: next } : { kind: 'skip', steps: [next], reason };
}

/** Why a step whose turn it is need not run. One that was begun is run to its end whatever its labels became. */
function whyNot(step: StepRow, steps: readonly StepRow[], labels: Labels): SkipReason | undefined {
  const { when, fallbackOf } = planned(step);
  const parent = steps.find(({ position }) => position === fallbackOf);
  if (parent !== undefined && parent.state !== 'failed') return 'fallback';
  if (when === undefined || step.attempt > 0) return undefined;
  const parsed = parseWhen(when);
  return 'expression' in parsed && holds(parsed.expression, labels) ? undefined : 'when';
}

function outcome(main: readonly StepRow[], failed: boolean): 'succeeded' | 'failed' | 'cancelled' {
  if (failed) return 'failed';
  return main.some(isCutShort) ? 'cancelled' : 'succeeded';
}

function isCutShort({ state, result }: StepRow): boolean {
  if (state === 'cancelled') return true;
  return (
    state === 'skipped' &&
    result !== null &&
    (JSON.parse(result) as { reason?: string }).reason === 'cancelled'
  );
}

/** The main step whose failure ended the workflow. */
export function isDecisiveFailure(step: StepRow): boolean {
  return step.phase === 'main' && step.state === 'failed' && planned(step).onFailure === 'fail';
}

function planned(step: StepRow): PlannedStep {
  return JSON.parse(step.step) as PlannedStep;
}
