import type { BootDevice, BootMode } from '#contract/steps.ts';
import { asText, type JsonObject } from '../json.ts';
import { type BmcMessage, says, saysOf } from '../messages.ts';
import type { Vendor } from '../vendors/vendor.ts';

export interface BootOverride {
  device: BootDevice;
  persistent: boolean;
  /** How the firmware boots it; as the machine has it when left out. */
  mode?: BootMode;
}

/** BootSourceOverrideTarget of each device (DSP0268, ComputerSystem), where a vendor has no other name for it. */
const targets: Record<BootDevice, string> = { pxe: 'Pxe', http: 'UefiHttp', disk: 'Hdd', cd: 'Cd' };

/** What the Boot property is to say, in Redfish's words. */
export interface WantedBoot {
  target: string;
  enabled: 'Once' | 'Continuous' | 'Disabled';
  /** Undefined: as it is. */
  mode: 'UEFI' | 'Legacy' | undefined;
}

/** What a vendor calls a device: the first of its names that the BMC offers. `offered`: empty when the BMC does not say. */
export function targetOf(device: BootDevice, vendor: Vendor, offered: readonly string[]): string {
  const names = vendor.targets[device] ?? [];
  return names.find((name) => offered.includes(name)) ?? targets[device];
}

/** HTTP boot is a thing of UEFI alone, so a machine in legacy mode is told to leave it. */
export function wantedBoot(
  { device, persistent, mode }: BootOverride,
  target: string,
  shown: JsonObject,
): WantedBoot {
  const needed = mode ?? (device === 'http' && shown[modeField] === 'Legacy' ? 'uefi' : undefined);
  return {
    target,
    enabled: persistent ? 'Continuous' : 'Once',
    mode: needed === undefined ? undefined : modes[needed],
  };
}

const modes = { uefi: 'UEFI', legacy: 'Legacy' } as const;

/**
 * No override: the target stays as it is, because iLO refuses Disabled together with None (ironcore-dev/metal-operator PR 998).
 */
export function noBoot(shown: JsonObject): WantedBoot {
  return { target: asText(shown.BootSourceOverrideTarget) ?? 'None', enabled: 'Disabled', mode: undefined };
}

/**
 * Which fields of Boot are sent. `least`: target and how often; `all`: with the mode, which is sent as the
 * machine has it.
 */
export type FieldChoice = 'least' | 'all';

const modeField = 'BootSourceOverrideMode';

/**
 * The Boot property to send. A mode that nobody asked for is there only if the machine shows one (Supermicro X10 has none and
 * refuses it) or the BMC demanded one: then UEFI, the only mode that new machines have.
 */
export function bootFields(
  { target, enabled, mode }: WantedBoot,
  shown: JsonObject,
  choice: FieldChoice,
  modeDemanded = false,
): JsonObject {
  const asItIs =
    choice === 'all' ? (asText(shown[modeField]) ?? (modeDemanded ? 'UEFI' : undefined)) : undefined;
  const sent = mode ?? asItIs;
  return {
    BootSourceOverrideTarget: target,
    BootSourceOverrideEnabled: enabled,
    ...(sent !== undefined && { [modeField]: sent }),
  };
}

/**
 * The fields that are not as asked: those of the override, and the mode if it is no longer what the machine
 * had. Of an override that is disabled the target does not matter.
 */
export function notKept(wanted: WantedBoot, before: JsonObject, after: JsonObject): string[] {
  const fields = bootFields(wanted, before, 'all');
  const checked = Object.keys(fields).filter(
    (field) => wanted.enabled !== 'Disabled' || field !== 'BootSourceOverrideTarget',
  );
  return checked.filter((field) => fields[field] !== after[field]);
}

/**
 * What a refusal asks for: other fields, the settings resource, or a pause; undefined when it asks for nothing
 * that we can do.
 */
export type Adjustment = 'add-mode' | 'drop-mode' | 'use-settings' | 'wait';

export function adjustmentFor(messages: readonly BmcMessage[]): Adjustment | undefined {
  if (
    saysOf(
      messages,
      modeField,
      'PropertyMissing',
      'ActionParameterMissing',
      'CreateFailedMissingReqProperties',
      'GeneralError',
    )
  )
    return 'add-mode';
  if (saysOf(messages, modeField, 'PropertyUnknown', 'PropertyNotWritable', 'PropertyValueConflict'))
    return 'drop-mode';
  if (says(messages, 'OperationSupportedInFutureStateURI')) return 'use-settings';
  // iDRAC10 has Boot read-only on the system (stmcginnis/gofish PR 511).
  if (saysOf(messages, 'BootSourceOverride', 'PropertyNotWritable', 'PropertyNotUpdatable'))
    return 'use-settings';
  return says(messages, 'UnableToModifyDuringSystemPOST') ? 'wait' : undefined;
}
