import Type, { type Static } from 'typebox';
import { poolUnitRules } from '#contract/hostConfig/rules.ts';
import { poolUnitFields } from '#contract/hostConfig/units.ts';
import { ImageRef } from '#contract/images.ts';
import { validate } from '#contract/validate.ts';

/** What a pool wants of its site: images held ready, and the ramdisk that its machines boot, by architecture; and of its hosts: units. */
export const PoolPolicy = Type.Object(
  {
    prewarmImages: Type.Array(ImageRef, { maxItems: 256, default: [] }),
    ramdisk: Type.Object(
      { x86_64: Type.Optional(ImageRef), aarch64: Type.Optional(ImageRef) },
      { additionalProperties: false, default: {} },
    ),
    /** How far a machine must be trusted before anything destructive or secret is sent to it. */
    trust: Type.Enum(['network', 'own-key', 'tpm'], { default: 'network' }),
    ...poolUnitFields,
  },
  { additionalProperties: false, default: {} },
);
export type PoolPolicy = Static<typeof PoolPolicy>;

/**
 * What the form of a policy does not say.
 * @throws RailheadError INVALID_INPUT whose `details.path` is `policy.…`
 */
export function checkPoolPolicy(policy: PoolPolicy): void {
  validate(Type.Object({ policy: PoolPolicy }), { policy }, 'INVALID_INPUT', poolUnitRules);
}
