import Type, { type Static } from 'typebox';
import { durationPattern } from './durations.ts';
import { Compression, ImageFormat } from './images.ts';
import { validate } from './validate.ts';

const Duration = Type.String({ pattern: durationPattern });
const closed = { additionalProperties: false };

/** One step of a profile, as written. `with` is checked against the step's own schema when it is run or validated. */
export const ProfileStep = Type.Object(
  {
    use: Type.String({ minLength: 1, maxLength: 128 }),
    on: Type.Optional(Type.Enum(['site', 'ramdisk', 'node', 'central'])),
    with: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    timeout: Type.Optional(Duration),
    retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
    await: Type.Optional(Type.Enum(['rejoin'])),
    onFailure: Type.Optional(Type.Enum(['fail', 'continue', 'fallback'])),
    when: Type.Optional(Type.String({ minLength: 1 })),
  },
  closed,
);
export type ProfileStep = Static<typeof ProfileStep>;

const StepList = Type.Array(ProfileStep, { maxItems: 256 });

/** A profile document. */
export const Profile = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9._-]{1,128}$' }),
    version: Type.Integer({ minimum: 1 }),
    target: Type.Enum(['metal', 'vps']),
    description: Type.Optional(Type.String({ maxLength: 1024 })),
    role: Type.Enum(['host', 'dedicated'], { default: 'host' }),
    image: Type.Optional(
      Type.Object(
        {
          ref: Type.String({ minLength: 1, maxLength: 200 }),
          format: Type.Optional(ImageFormat),
          compression: Type.Optional(Compression),
        },
        closed,
      ),
    ),
    userData: Type.Optional(
      Type.Object(
        { kind: Type.Enum(['cloud-init', 'ignition', 'talos']), template: Type.String({ minLength: 1 }) },
        closed,
      ),
    ),
    hostConfig: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()))),
    steps: Type.Optional(StepList),
    acceptance: Type.Optional(StepList),
    cleanup: Type.Optional(StepList),
  },
  closed,
);
export type Profile = Static<typeof Profile>;

/**
 * Checks a profile and returns a deeply frozen copy.
 * @throws RailheadError INVALID_CONFIG whose `details.path` names the first offending field
 */
export function defineProfile(document: unknown): Profile {
  return deepFreeze(validate(Profile, document, 'INVALID_CONFIG'));
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
