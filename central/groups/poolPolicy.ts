import Type, { type Static } from 'typebox';
import { BootQuirks } from '#contract/bootQuirks.ts';
import { withDefaults } from '#contract/defaults.ts';
import type { Issue } from '#contract/findIssues.ts';
import { poolUnitRules } from '#contract/hostConfig/rules.ts';
import { poolUnitFields } from '#contract/hostConfig/units.ts';
import { ImageRef } from '#contract/images.ts';
import { type Profile, profileIssues } from '#contract/profiles.ts';
import { issueError, validate } from '#contract/validate.ts';
import { planIssues } from '../workflows/plan.ts';

const closed = { additionalProperties: false };

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
    /** What the firmware of its machines needs in boot replies; a node may have quirks of its own beside. */
    bootQuirks: Type.Optional(BootQuirks),
    /** Steps that an adopted machine must pass, as a profile writes them. Nothing starts an adoption yet. */
    acceptance: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 256 })),
    ...poolUnitFields,
  },
  closed,
);
/** The same for a new pool, which may leave it out. Not for a change: who forgot it there would lose all that was set. */
export const NewPoolPolicy = Type.Object(PoolPolicy.properties, { ...closed, default: {} });
export type PoolPolicy = Static<typeof PoolPolicy>;

/** A policy as it was stored: an older version of the centre did not know all that there is now. */
export function readPoolPolicy(stored: string): PoolPolicy {
  return withDefaults(PoolPolicy, JSON.parse(stored)) as PoolPolicy;
}

/**
 * What the form of a policy does not say.
 * @throws RailheadError INVALID_INPUT whose `details.path` is `policy.…`
 */
export function checkPoolPolicy(policy: PoolPolicy): void {
  validate(Type.Object({ policy: PoolPolicy }), { policy }, 'INVALID_INPUT', poolUnitRules);
  const [issue] = acceptanceIssues(policy.acceptance);
  if (issue !== undefined) throw issueError({ ...issue, path: `policy.${issue.path}` }, 'INVALID_INPUT');
}

/** What is wrong with steps that adopted machines are to pass: what would be in a profile that adopts. */
function acceptanceIssues(acceptance: PoolPolicy['acceptance']): Issue[] {
  if (acceptance === undefined) return [];
  const adoption = { id: 'adoption', version: 1, target: 'metal', entry: 'adopt', acceptance };
  const malformed = profileIssues(adoption);
  return malformed.length > 0 ? malformed : planIssues(adoption as Profile);
}
