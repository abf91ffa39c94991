import Type, { type Static } from 'typebox';
import { durationPattern } from './durations.ts';
import type { FieldSegments } from './fieldPath.ts';
import { type FindOptions, findIssues, type Issue } from './findIssues.ts';
import { refusedInHostConfig } from './hostConfig/rules.ts';
import { HostConfig } from './hostConfig/units.ts';
import { Compression, ImageFormat, ImageRef } from './images.ts';
import { concernPattern } from './steps.ts';
import { validate } from './validate.ts';
import { whenFault } from './when.ts';

const Duration = Type.String({ pattern: durationPattern, maxLength: 16 });
const closed = { additionalProperties: false };

/** A name of a step: `power.setPower`. */
const stepNamePattern = '^[a-z][A-Za-z0-9-]*(\\.[A-Za-z][A-Za-z0-9-]*)+$';

/**
 * One step of a profile, as written. `with` is checked against the step's own schema when it is validated or planned;
 * `fallback` is what runs when the step has failed for good.
 */
export const ProfileStep = Type.Cyclic(
  {
    ProfileStep: Type.Object(
      {
        use: Type.String({ minLength: 1, maxLength: 128, pattern: stepNamePattern }),
        on: Type.Optional(Type.Enum(['site', 'ramdisk', 'node', 'central'])),
        with: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        timeout: Type.Optional(Duration),
        retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
        await: Type.Optional(Type.Enum(['rejoin'])),
        onFailure: Type.Optional(Type.Enum(['fail', 'continue', 'fallback'])),
        fallback: Type.Optional(Type.Array(Type.Ref('ProfileStep'), { minItems: 1, maxItems: 256 })),
        when: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
      },
      closed,
    ),
  },
  'ProfileStep',
);
export type ProfileStep = Static<typeof ProfileStep>;

/** How many steps one phase may have, those of fallbacks included: the main phase is `steps` and `acceptance`. */
const mostSteps = 256;
const StepList = Type.Array(ProfileStep, { maxItems: mostSteps });

/** The driver of one concern: its name, or its name with what it is configured by. */
export const DriverChoice = Type.Union([
  Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }),
  Type.Object(
    {
      driver: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }),
      config: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    closed,
  ),
]);
export type DriverChoice = Static<typeof DriverChoice>;

/** Drivers by what they are for. */
export const DriverChoices = Type.Record(Type.String({ pattern: concernPattern }), DriverChoice, closed);
export type DriverChoices = Static<typeof DriverChoices>;

/** A profile document. The order of its fields is that in which faults are named. */
export const Profile = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9._-]{1,128}$' }),
    version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    target: Type.Enum(['metal', 'vps']),
    description: Type.Optional(Type.String({ maxLength: 1024 })),
    role: Type.Optional(Type.Enum(['host', 'dedicated'])),
    entry: Type.Optional(Type.Enum(['adopt', 'deploy'])),
    drivers: Type.Optional(DriverChoices),
    image: Type.Optional(
      Type.Object(
        {
          ref: ImageRef,
          format: Type.Optional(ImageFormat),
          compression: Type.Optional(Compression),
        },
        closed,
      ),
    ),
    userData: Type.Optional(
      Type.Object(
        {
          kind: Type.Enum(['cloud-init', 'ignition', 'talos']),
          template: Type.String({ minLength: 1, maxLength: 128 }),
        },
        closed,
      ),
    ),
    hostConfig: Type.Optional(HostConfig),
    steps: Type.Optional(StepList),
    acceptance: Type.Optional(StepList),
    cleanup: Type.Optional(StepList),
  },
  closed,
);
export type Profile = Static<typeof Profile>;

/** Fields that only mean something on one target. No seed names a field that is for `vps` alone. */
const fieldsOfTarget: Readonly<Record<Profile['target'], readonly string[]>> = {
  metal: ['role', 'entry', 'drivers', 'hostConfig'],
  vps: [],
};
const fieldsOfDeploy = ['image', 'userData', 'steps'];

/**
 * Checks a profile and returns a deeply frozen copy, `role` filled in.
 * @throws RailheadError INVALID_CONFIG whose `details.path` names the first offending field in document order: the fields as in
 *   `Profile`, then unknown ones, arrays by index
 */
export function defineProfile(document: unknown): Profile {
  return checkProfile(document, 'INVALID_CONFIG');
}

/** The same, with the code of whoever asks: through the API the fault is in the caller's input. */
export function checkProfile(document: unknown, code: 'INVALID_CONFIG' | 'INVALID_INPUT'): Profile {
  const profile = validate(Profile, document, code, profileRules);
  return deepFreeze(profile.target === 'metal' ? { ...profile, role: profile.role ?? 'host' } : profile);
}

/** Everything that is wrong with the form of a profile document, in document order. */
export function profileIssues(document: unknown): Issue[] {
  return findIssues(Profile, document, profileRules);
}

const profileRules: FindOptions = {
  jsonOnly: true,
  refused: (at, value) => {
    if (at.length === 0) return refusedInProfile(value);
    if (at[0] === 'hostConfig') return refusedInHostConfig(at.slice(1), value);
    return isStepPath(at) ? refusedInStep(value) : {};
  },
};

function refusedInProfile(profile: Record<string, unknown>): Record<string, string> {
  const { target, entry } = profile;
  const other = target === 'vps' ? 'metal' : target === 'metal' ? 'vps' : undefined;
  const foreign = other === undefined ? [] : fieldsOfTarget[other];
  const adopted = entry === 'adopt' ? fieldsOfDeploy : [];
  return Object.fromEntries([
    ...adopted.map((field) => [field, 'is not for a profile that adopts']),
    ...foreign.map((field) => [field, `is for ${other} profiles only`]),
    ...overfull(profile).map((field) => [field, tooManySteps]),
  ]);
}

const tooManySteps = `must not bring its phase to more than ${mostSteps} steps, those of fallbacks included`;

/** The step lists by which a phase gets more steps than it may have. */
function overfull({ steps, acceptance, cleanup }: Record<string, unknown>): string[] {
  const main = stepCount(steps);
  const inMain =
    main > mostSteps ? ['steps'] : main + stepCount(acceptance) > mostSteps ? ['acceptance'] : [];
  return stepCount(cleanup) > mostSteps ? [...inMain, 'cleanup'] : inMain;
}

/** How many steps are in a list and its fallbacks, counted no further than is needed. */
function stepCount(list: unknown): number {
  const lists = [list];
  let count = 0;
  for (const one of lists) {
    if (!Array.isArray(one)) continue;
    count += one.length;
    if (count > mostSteps) break;
    for (const step of one) lists.push((step as { fallback?: unknown } | null)?.fallback);
  }
  return count;
}

/** `onFailure: fallback` and a `fallback` go together; a `fallback` alone says so well enough. */
function refusedInStep({ onFailure, fallback, when }: Record<string, unknown>): Record<string, string> {
  const refused: Record<string, string> = {};
  if (onFailure === 'fallback' && fallback === undefined)
    refused.onFailure = 'is fallback, and the step has no fallback';
  if (fallback !== undefined && typeof onFailure === 'string' && onFailure !== 'fallback')
    refused.fallback = `is not run when onFailure is ${onFailure}`;
  const fault = typeof when === 'string' ? whenFault(when) : undefined;
  if (fault !== undefined) refused.when = fault.message;
  return refused;
}

function isStepPath(at: FieldSegments): boolean {
  const list = at.at(-2);
  const lists = ['steps', 'acceptance', 'cleanup', 'fallback'];
  return (
    typeof at.at(-1) === 'number' && typeof list === 'string' && lists.includes(list) && !at.includes('with')
  );
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
