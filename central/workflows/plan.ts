import { durationMs } from '#contract/durations.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Profile, ProfileStep } from '#contract/profiles.ts';
import { isStepName, type StepName, steps } from '#contract/steps.ts';
import { validate } from '#contract/validate.ts';

/** One step as a workflow runs it: defaults filled in, `with` checked. */
export interface PlannedStep {
  use: StepName;
  with: Record<string, unknown>;
  phase: 'main' | 'cleanup';
  timeoutMs: number;
  retries: number;
  onFailure: 'fail' | 'continue';
  await?: 'rejoin';
}

/** A profile's step lists in the order they run, with the phase that each belongs to. */
const lists = [
  { field: 'steps', phase: 'main' },
  { field: 'acceptance', phase: 'main' },
  { field: 'cleanup', phase: 'cleanup' },
] as const;

/**
 * The steps that a workflow of `profile` runs.
 * @throws RailheadError UNSUPPORTED or INVALID_INPUT whose `details.path` names the first field that cannot be run
 */
export function planWorkflow(profile: Profile): PlannedStep[] {
  refuseUnsupported(profile);
  return lists.flatMap(({ field, phase }) =>
    (profile[field] ?? []).map((step, index) => planStep(step, phase, `${field}[${index}]`)),
  );
}

/** @throws RailheadError UNSUPPORTED for what a profile may say and this release does not run */
export function refuseUnsupported(profile: Profile): void {
  for (const { field } of lists)
    for (const [index, step] of (profile[field] ?? []).entries()) {
      const path = `${field}[${index}]`;
      if (step.when !== undefined)
        throw unsupported(`${path}.when`, 'when is not supported yet: leave it out');
      if (step.onFailure === 'fallback')
        throw unsupported(`${path}.onFailure`, 'fallback is not supported yet: use fail or continue');
    }
}

function planStep(step: ProfileStep, phase: PlannedStep['phase'], path: string): PlannedStep {
  if (!isStepName(step.use)) throw unsupported(`${path}.use`, `there is no step ${step.use}`);
  const definition = steps[step.use];
  if (step.on !== undefined && !placesOf(definition.runs).includes(step.on))
    throw new RailheadError(
      'INVALID_INPUT',
      `${step.use} runs on ${placesOf(definition.runs).join(' or ')}, not on ${step.on}`,
      {
        path: `${path}.on`,
      },
    );
  const awaited = step.await ?? ('await' in definition ? definition.await : undefined);
  return {
    use: step.use,
    with: checkedInput(step.use, step.with ?? {}, `${path}.with`),
    phase,
    timeoutMs: durationMs(step.timeout ?? definition.timeout),
    retries: step.retries ?? 0,
    onFailure: step.onFailure === 'continue' ? 'continue' : 'fail',
    ...(awaited === undefined ? {} : { await: awaited }),
  };
}

function placesOf(runs: (typeof steps)[StepName]['runs']): readonly string[] {
  return runs === 'ramdisk-or-node' ? ['ramdisk', 'node'] : [runs];
}

/** The step's `with`, whose faults are named by their path in the profile. */
function checkedInput(use: StepName, input: Record<string, unknown>, path: string): Record<string, unknown> {
  try {
    return validate(steps[use].input, input) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof RailheadError)) throw error;
    const at = error.details.path ? `${path}.${error.details.path}` : path;
    throw new RailheadError(error.code, `${at}: ${error.details.expected}`, { ...error.details, path: at });
  }
}

function unsupported(path: string, message: string): RailheadError {
  return new RailheadError('UNSUPPORTED', `${path}: ${message}`, { path });
}
