import type { BootDevice } from '#contract/steps.ts';
import { asText, type JsonObject } from '../json.ts';
import { type BmcMessage, saysOf } from '../messages.ts';

export interface BootOverride {
  device: BootDevice;
  persistent: boolean;
}

/** BootSourceOverrideTarget of each device (DSP0268, ComputerSystem). */
export const targets: Record<BootDevice, string> = { pxe: 'Pxe', http: 'UefiHttp', disk: 'Hdd', cd: 'Cd' };

/**
 * Which fields of Boot are sent. `least`: target and how often; `all`: with the mode, which is sent as the
 * machine has it.
 */
export type FieldChoice = 'least' | 'all';

const modeField = 'BootSourceOverrideMode';

/**
 * The Boot property to send. The mode is there only if the machine shows one (Supermicro X10 has none and
 * refuses it) or the BMC demanded one: then UEFI, the only mode that new machines have.
 */
export function bootFields(
  override: BootOverride,
  shown: JsonObject,
  choice: FieldChoice,
  modeDemanded = false,
): JsonObject {
  const mode = asText(shown[modeField]) ?? (modeDemanded ? 'UEFI' : undefined);
  return {
    BootSourceOverrideTarget: targets[override.device],
    BootSourceOverrideEnabled: override.persistent ? 'Continuous' : 'Once',
    ...(choice === 'all' && mode !== undefined && { [modeField]: mode }),
  };
}

/**
 * The fields that are not as asked: those of the override, and the mode if it is no longer what the machine
 * had.
 */
export function notKept(override: BootOverride, before: JsonObject, after: JsonObject): string[] {
  const wanted = bootFields(override, before, 'all');
  return Object.keys(wanted).filter((field) => wanted[field] !== after[field]);
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
  const names = messages.map((message) => message.id.split('.').at(-1));
  if (names.includes('OperationSupportedInFutureStateURI')) return 'use-settings';
  return names.includes('UnableToModifyDuringSystemPOST') ? 'wait' : undefined;
}
