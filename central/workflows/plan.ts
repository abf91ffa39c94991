import { withDefaults } from '#contract/defaults.ts';
import { durationMs } from '#contract/durations.ts';
import { type ErrorCode, RailheadError } from '#contract/errors.ts';
import { findIssues, type Issue } from '#contract/findIssues.ts';
import type { Profile, ProfileStep } from '#contract/profiles.ts';
import { isStepName, type StepName, type StepPlace, steps } from '#contract/steps.ts';
import { validate } from '#contract/validate.ts';

/** One step as a workflow runs it: defaults filled in, `with` checked. */
export interface PlannedStep {
  use: StepName;
  /** Where it stands in the profile: `steps[2].fallback[0]`. */
  path: string;
  /** Where it runs, when the profile says so. */
  on?: StepPlace;
  with: Record<string, unknown>;
  phase: 'main' | 'cleanup';
  timeoutMs: number;
  retries: number;
  onFailure: 'fail' | 'continue' | 'fallback';
  await?: 'rejoin';
  /** A label expression: when it does not hold for the node, the step is skipped. */
  when?: string;
  /** The position of the step whose failure this one is run after. */
  fallbackOf?: number;
}

/** Why a step of a profile cannot be run. */
export interface PlanIssue extends Issue {
  code: Extract<ErrorCode, 'UNSUPPORTED' | 'INVALID_INPUT'>;
}

/** A profile's step lists in the order they run, with the phase that each belongs to. */
const lists = [
  { field: 'steps', phase: 'main' },
  { field: 'acceptance', phase: 'main' },
  { field: 'cleanup', phase: 'cleanup' },
] as const;

/** One step of a profile, a fallback's included, as it stands there. */
export interface Written {
  step: ProfileStep;
  path: string;
  phase: PlannedStep['phase'];
  fallbackOf?: number;
}

/**
 * The steps that a workflow of `profile` runs, in their order; a step's fallback follows it.
 * @throws RailheadError UNSUPPORTED or INVALID_INPUT whose `details.path` names the first field that cannot be run
 */
export function planWorkflow(profile: Profile): PlannedStep[] {
  const [issue] = planIssues(profile);
  if (issue === undefined) return writtenSteps(profile).map(planStep);
  const { code, path, message } = issue;
  throw new RailheadError(code, `${path}: ${message}`, { path, expected: message });
}

/** Everything for which the steps of a profile cannot be run, in document order. */
export function planIssues(profile: Profile): PlanIssue[] {
  const before = new Set<string>();
  return writtenSteps(profile).flatMap((written) => {
    const issues = stepIssues(written, before);
    before.add(written.step.use);
    return issues;
  });
}

/** Every step of a profile, fallbacks included, in the order they run. */
export function writtenSteps(profile: Profile): Written[] {
  const written: Written[] = [];
  for (const { field, phase } of lists) append(written, profile[field] ?? [], field, phase);
  return written;
}

function append(
  written: Written[],
  list: readonly ProfileStep[],
  path: string,
  phase: PlannedStep['phase'],
  fallbackOf?: number,
): void {
  for (const [index, step] of list.entries()) {
    const place = { step, path: `${path}[${index}]`, phase };
    const position = written.push(fallbackOf === undefined ? place : { ...place, fallbackOf }) - 1;
    append(written, step.fallback ?? [], `${place.path}.fallback`, phase, position);
  }
}

function stepIssues({ step, path }: Written, before: ReadonlySet<string>): PlanIssue[] {
  const { use, on } = step;
  if (!isStepName(use))
    return [{ code: 'UNSUPPORTED', path: `${path}.use`, message: `there is no step ${use}` }];
  const places = placesOf(use);
  const misplaced =
    on === undefined || places.includes(on) ? [] : [`${use} runs on ${places.join(' or ')}, not on ${on}`];
  return [
    ...misplaced.map((message) => invalid(`${path}.on`, message)),
    ...findIssues(steps[use].input, withDefaults(steps[use].input, step.with ?? {})).map((issue) =>
      invalid(issue.path === '' ? `${path}.with` : `${path}.with.${issue.path}`, issue.message),
    ),
    ...sourceIssues(step, path, before),
  ];
}

/** A `fromStep` names the `use` of a step that runs before. */
function sourceIssues(step: ProfileStep, path: string, before: ReadonlySet<string>): PlanIssue[] {
  const from = step.use === 'media.insert' ? step.with?.fromStep : undefined;
  if (typeof from !== 'string' || before.has(from)) return [];
  return [invalid(`${path}.with.fromStep`, `no step ${from} comes before this one`)];
}

function placesOf(use: StepName): StepPlace[] {
  const { runs } = steps[use];
  return runs === 'ramdisk-or-node' ? ['ramdisk', 'node'] : [runs];
}

function planStep({ step, path, phase, fallbackOf }: Written): PlannedStep {
  const use = step.use as StepName;
  const definition = steps[use];
  const awaited = step.await ?? ('await' in definition ? definition.await : undefined);
  return {
    use,
    path,
    ...(step.on === undefined ? {} : { on: step.on }),
    with: validate(definition.input, step.with ?? {}) as Record<string, unknown>,
    phase,
    timeoutMs: durationMs(step.timeout ?? definition.timeout),
    retries: step.retries ?? 0,
    onFailure: step.fallback === undefined ? (step.onFailure ?? 'fail') : 'fallback',
    ...(awaited === undefined ? {} : { await: awaited }),
    ...(step.when === undefined ? {} : { when: step.when }),
    ...(fallbackOf === undefined ? {} : { fallbackOf }),
  };
}

function invalid(path: string, message: string): PlanIssue {
  return { code: 'INVALID_INPUT', path, message };
}
