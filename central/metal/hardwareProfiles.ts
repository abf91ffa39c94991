import Type from 'typebox';
import { RailheadError } from '#contract/errors.ts';
import { DriverChoices } from '#contract/profiles.ts';
import { validate } from '#contract/validate.ts';
import type { PoolPolicy } from '../groups/poolPolicy.ts';
import type { HardwareProfile } from './driverBindings.ts';

export type HardwareProfiles = Readonly<Record<string, HardwareProfile>>;

const Document = Type.Record(
  Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,127}$' }),
  Type.Object({ drivers: DriverChoices }, { additionalProperties: false }),
  { additionalProperties: false },
);

/**
 * Hardware profiles as they were configured.
 * @throws RailheadError INVALID_CONFIG whose `details.path` names the first offending field
 */
export function checkHardwareProfiles(document: unknown = {}): HardwareProfiles {
  return validate(Document, document, 'INVALID_CONFIG', { jsonOnly: true });
}

/**
 * The hardware profile of this name; undefined for no name.
 * @throws RailheadError INVALID_INPUT for a name that is not configured
 */
export function requireHardwareProfile(
  profiles: HardwareProfiles,
  name: string | undefined,
  path: string,
): HardwareProfile | undefined {
  if (name === undefined) return undefined;
  if (Object.hasOwn(profiles, name)) return profiles[name];
  const known = Object.keys(profiles).join(', ') || 'none';
  throw new RailheadError('INVALID_INPUT', `there is no hardware profile ${name}; configured: ${known}`, {
    path,
    reason: 'hardware-profile',
  });
}

/**
 * The hardware profile of a machine: the one that it names, else its pool's.
 * @throws RailheadError INVALID_INPUT for a name that is not configured
 */
export function profileOf(
  profiles: HardwareProfiles,
  named: string | null | undefined,
  pool: Pick<PoolPolicy, 'hardwareProfile'> | undefined,
): HardwareProfile | undefined {
  if (typeof named === 'string') return requireHardwareProfile(profiles, named, 'hardwareProfile');
  return requireHardwareProfile(profiles, pool?.hardwareProfile, 'poolId');
}
