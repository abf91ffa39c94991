import type { BootDevice, BootMode } from '#contract/steps.ts';

export interface BootOverride {
  device: BootDevice;
  persistent: boolean;
  mode?: BootMode;
}

/** What boots the machine's devices: the flag of UEFI is sent or not. */
export type Firmware = 'uefi' | 'bios';

/** Boot device selectors (IPMI 2.0 table 28-14, boot flags, data 2 bits 5:2). */
const selectors: Partial<Record<BootDevice, number>> = { pxe: 0x04, disk: 0x08, cd: 0x14 };

/** The devices that IPMI can name. */
export const ipmiDevices = Object.keys(selectors) as BootDevice[];

const valid = 0x80;
const persistentBit = 0x40;
const uefi = 0x20;

/** The five bytes of parameter 5, boot flags; undefined for a device that IPMI has no selector of. */
export function bootFlags({ device, persistent }: BootOverride, firmware: Firmware): number[] | undefined {
  const selector = selectors[device];
  if (selector === undefined) return undefined;
  const first = valid | (persistent ? persistentBit : 0) | (firmware === 'uefi' ? uefi : 0);
  return [first, selector, 0, 0, 0];
}

/** Set and Get System Boot Options (IPMI 2.0 §28.12, §28.13) as whole commands. */
export const bootOptions = {
  /**
   * Parameter 3: the flags stay valid for longer than 60 seconds without a restart by the chassis (bit 3), after which the BMC would
   * forget them: a boot that is set before a slow step would be lost.
   */
  keepBeyond60s: [0x00, 0x08, 0x03, 0x08],
  /** Parameter 4: no firmware has taken these flags yet, the BIOS among them (write mask, data). */
  notTakenYet: [0x00, 0x08, 0x04, 0x01, 0x01],
  set: (flags: readonly number[]) => [0x00, 0x08, 0x05, ...flags],
  /** No device of ours: as the firmware is set up. */
  none: [0x00, 0x08, 0x05, valid, 0x00, 0x00, 0x00, 0x00],
  get: [0x00, 0x09, 0x05, 0x00, 0x00],
};

/** The flags of an answer to `bootOptions.get`: parameter version, parameter number, data; undefined for another answer. */
export function parseBootFlags(bytes: Buffer): number[] | undefined {
  const [, parameter, ...flags] = bytes;
  return parameter !== undefined && (parameter & 0x7f) === 5 && flags.length >= 2
    ? flags.slice(0, 5)
    : undefined;
}

/** Which of what was set is not so: `device`, `persistent`, `valid`, `uefi`. */
export function notKept(asked: readonly number[], found: readonly number[]): string[] {
  const differs = (byte: number, mask: number) => (((asked[byte] ?? 0) ^ (found[byte] ?? 0)) & mask) !== 0;
  return [
    ...(differs(0, valid) ? ['valid'] : []),
    ...(differs(0, persistentBit) ? ['persistent'] : []),
    ...(differs(0, uefi) ? ['uefi'] : []),
    ...(differs(1, 0x3c) ? ['device'] : []),
  ];
}
