import { RailheadError } from '#contract/errors.ts';
import {
  type BootOverride,
  bootFlags,
  bootOptions,
  type Firmware,
  ipmiDevices,
  notKept,
  parseBootFlags,
} from './bootOptions.ts';
import type { IpmiClient } from './client.ts';
import type { FleetingFlags } from './memory.ts';
import { parseBytes, rawCommand } from './raw.ts';

export interface StoredBoot extends BootOverride {
  firmware: Firmware;
  /** What the BMC took and does not show. */
  notes?: string[];
}

/**
 * Sets the boot flags and reads them back. A BMC that keeps the device and shows not the flags beside it is believed,
 * with a note. `keep` is told what the BMC would forget within a minute.
 * @throws RailheadError UNSUPPORTED (`boot-device`), DRIVER_ERROR (`not-stored`) or as the client
 */
export async function setBootDevice(
  client: IpmiClient,
  override: BootOverride,
  firmware: Firmware,
  keep: (fleeting: FleetingFlags | undefined) => void,
): Promise<StoredBoot> {
  const flags = bootFlags(override, firmware);
  if (flags === undefined) throw unsupported(override.device);
  const lasts = await canKeepBeyond60s(client);
  await client.attempt(rawCommand(bootOptions.notTakenYet), { repeatable: true });
  keep(undefined);
  await client.raw(bootOptions.set(flags), { repeatable: true });
  const at = client.clock.now();
  const lost = await lostFields(client, flags);
  if (lost.some((field) => !oftenNotShown.includes(field))) throw notStored(lost);
  if (!lasts) keep({ flags, at });
  const notes =
    lost.length === 0 ? undefined : [`the BMC took these flags and does not show them: ${lost.join(', ')}`];
  return { ...override, firmware, ...(notes !== undefined && { notes }) };
}

/** OpenIPMI's own BMC keeps the device and shows neither of these (seen, 2.0.37). */
const oftenNotShown = ['uefi', 'valid'];

/** So long, in milliseconds, a boot device that was set is what somebody still means to boot. */
const meantForMs = 24 * 3_600_000;

/**
 * To be called right before a restart: what the BMC has forgotten by now is set again (IPMI 2.0 §28.12, boot flags: they end 60 seconds
 * after they were set). A time in the future is of a clock that was set back: then nobody knows.
 */
export async function refreshBootDevice(client: IpmiClient, { flags, at }: FleetingFlags): Promise<void> {
  const age = client.clock.now() - at;
  if ((age >= 0 && age < 30_000) || age > meantForMs) return;
  await client.raw(bootOptions.set(flags), { repeatable: true });
}

/** Old BMCs refuse the parameter, and forget the flags after 60 seconds. */
async function canKeepBeyond60s(client: IpmiClient): Promise<boolean> {
  const { failure } = await client.attempt(rawCommand(bootOptions.keepBeyond60s), { repeatable: true });
  return failure === undefined;
}

/** Empty where the BMC does not tell its flags: then nothing speaks against it. */
async function lostFields(client: IpmiClient, flags: readonly number[]): Promise<string[]> {
  const { stdout, failure } = await client.attempt(rawCommand(bootOptions.get), { repeatable: true });
  if (failure !== undefined) return [];
  const found = parseBootFlags(parseBytes(stdout));
  return found === undefined ? [] : notKept(flags, found);
}

function unsupported(device: string): RailheadError {
  return new RailheadError(
    'UNSUPPORTED',
    `IPMI cannot name ${device} as a boot device; it knows ${ipmiDevices.join(', ')}`,
    { reason: 'boot-device', device, allowed: ipmiDevices },
  );
}

function notStored(fields: string[]): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the BMC accepted the boot device and did not store it (${fields.join(', ')}): update its firmware or set it by hand`,
    { reason: 'not-stored', fields },
  );
}
