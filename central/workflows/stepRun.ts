import type { Profile } from '#contract/profiles.ts';
import type { CentralContext } from '../context.ts';
import type { PlannedStep } from './plan.ts';
import type { ClaimedWorkflow } from './records.ts';

/** One attempt of one step, as its executor sees it. */
export interface StepRun {
  central: CentralContext;
  workflow: ClaimedWorkflow;
  profile: Profile;
  step: PlannedStep;
  stepId: string;
  attempt: number;
  /** Which of its operations this attempt is at, when it has several. */
  part?: string;
  /** ISO 8601: when this attempt is given up. */
  deadline: string;
  /** Aborts at the deadline, on cancel and when the centre stops; its reason says which. */
  stop: AbortSignal;
  /** Aborts when the centre stops: nothing may be decided any more. */
  closing: AbortSignal;
}

/** What a step returns; later steps and `workflows.get` read it. */
export type StepResult = Record<string, unknown>;

/** Why a step's attempt was interrupted, other than a deadline (which is a RailheadError). */
export class StepCancelled extends Error {}
export class CentreStopping extends Error {}

/**
 * Waits within a step for `check` to find something, looking again after each notice on `topics`.
 * @throws the reason of `run.stop` when that aborts first
 */
export async function waitFor<Value>(
  run: StepRun,
  topics: readonly string[],
  check: () => Promise<Value | undefined>,
): Promise<Value> {
  const found = await run.central.signals.until(topics, check, run.stop);
  if (found === undefined) throw run.stop.reason;
  return found;
}
