import type { BootOverride } from '../machine/bootOverride.ts';
import type { FirmwareName } from '../machine/firmware.ts';
import { firmware } from '../machine/firmware.ts';
import { RedfishError } from './errors.ts';

const enabledValues = ['Disabled', 'Once', 'Continuous'] as const;

/** ComputerSystem.Boot as it is read. */
export function bootProperties(override: BootOverride, name: FirmwareName): Record<string, unknown> {
  const { overrideMode, bootTargets } = firmware(name);
  return {
    BootSourceOverrideEnabled: override.enabled,
    'BootSourceOverrideEnabled@Redfish.AllowableValues': enabledValues,
    BootSourceOverrideTarget: override.target,
    'BootSourceOverrideTarget@Redfish.AllowableValues': bootTargets,
    BootSourceOverrideMode: overrideMode,
    'BootSourceOverrideMode@Redfish.AllowableValues': [overrideMode],
  };
}

/**
 * The override after a PATCH of ComputerSystem.Boot: what is not sent stays as it was.
 * @throws RedfishError 400 naming the property that is unknown or has a value out of the list
 */
export function patchedOverride(current: BootOverride, boot: unknown, name: FirmwareName): BootOverride {
  if (typeof boot !== 'object' || boot === null) {
    throw new RedfishError(400, 'PropertyValueTypeError', { args: ['Boot'], properties: ['Boot'] });
  }
  const { overrideMode, bootTargets } = firmware(name);
  const patch = { ...current };
  for (const [property, value] of Object.entries(boot)) {
    if (property === 'BootSourceOverrideTarget') patch.target = listed(property, value, bootTargets);
    else if (property === 'BootSourceOverrideEnabled') patch.enabled = listed(property, value, enabledValues);
    else if (property === 'BootSourceOverrideMode') listed(property, value, [overrideMode]);
    else
      throw new RedfishError(400, 'PropertyUnknown', { args: [property], properties: [`Boot/${property}`] });
  }
  return patch;
}

function listed<Value extends string>(property: string, value: unknown, values: readonly Value[]): Value {
  const found = values.find((known) => known === value);
  if (found !== undefined) return found;
  throw new RedfishError(400, 'PropertyValueNotInList', {
    args: [String(value), property],
    properties: [`Boot/${property}`],
  });
}
