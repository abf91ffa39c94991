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
    /** What its machines are driven by; `metal.enroll` binds the drivers of it. */
    hardwareProfile: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    /** `none`: its machines never run `bcd`, so they are driven by their BMC alone. */
    agent: Type.Enum(['bcd', 'none'], { default: 'bcd' }),
    /** Binds the hardware address that PXE discovery finds for a node's product UUID without asking. */
    trustProvisioningNetwork: Type.Boolean({ default: false }),
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
