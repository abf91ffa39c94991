import type { PlannedStep } from './plan.ts';
import type { StepRow } from './records.ts';

/** What a workflow does next. */
export type Move =
  | { kind: 'run'; step: StepRow }
  | { kind: 'skip'; steps: StepRow[] }
  | { kind: 'finish'; state: 'succeeded' | 'failed' | 'cancelled' };

/**
 * The next move of a workflow from the states of its steps alone, so that a restart decides as the run before it did. A
 * step that was running comes first, then the main phase until it fails or is cancelled, then the cleanup in any case.
 */
export function decideNext(steps: readonly StepRow[], cancelRequested: boolean): Move {
  const running = steps.find((step) => step.state === 'running');
  if (running !== undefined) return { kind: 'run', step: running };
  const main = steps.filter((step) => step.phase === 'main');
  const failed = main.some(isDecisiveFailure);
  const waiting = main.filter((step) => step.state === 'pending');
  if (waiting.length > 0 && (failed || cancelRequested)) return { kind: 'skip', steps: waiting };
  const next = waiting[0] ?? steps.find((step) => step.state === 'pending');
  if (next !== undefined) return { kind: 'run', step: next };
  return { kind: 'finish', state: outcome(main, failed) };
}

function outcome(main: readonly StepRow[], failed: boolean): 'succeeded' | 'failed' | 'cancelled' {
  if (failed) return 'failed';
  const cutShort = main.some((step) => step.state === 'cancelled' || step.state === 'skipped');
  return cutShort ? 'cancelled' : 'succeeded';
}

/** The main step whose failure ended the workflow. */
export function isDecisiveFailure(step: StepRow): boolean {
  if (step.phase !== 'main' || step.state !== 'failed') return false;
  return (JSON.parse(step.step) as PlannedStep).onFailure === 'fail';
}
