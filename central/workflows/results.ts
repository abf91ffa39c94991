import { parseJson } from '../store/store.ts';
import type { PlannedStep } from './plan.ts';
import { stepsOf } from './records.ts';
import type { StepRun } from './stepRun.ts';

/** What the newest run of a step of this workflow returned; undefined when none has succeeded. */
export async function resultOf<Result>(
  { central, workflow }: StepRun,
  use: string,
): Promise<Result | undefined> {
  const steps = await stepsOf(central.store, workflow.workflow_id);
  const done = steps.findLast(
    (step) => step.state === 'succeeded' && (JSON.parse(step.step) as PlannedStep).use === use,
  );
  return parseJson<Result>(done?.result ?? null);
}
