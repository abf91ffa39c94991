import type { BootOverride } from './bootOverride.ts';

/** A kind of firmware: the files it comes from and how QEMU is told to run it. */
interface FirmwareDefinition {
  /** The mode of its boot override, as Redfish names it. */
  readonly overrideMode: 'UEFI' | 'Legacy';
  readonly bootTargets: readonly BootOverride['target'][];
  readonly code?: string;
  /** The blank NVRAM that each machine gets a copy of. */
  readonly nvramTemplate?: string;
  readonly machine: string;
  /** The boot ROM of the network card: none, or QEMU's own where nothing is said. */
  readonly nicRom: 'none' | 'default';
}

export const firmwares = {
  uefi: {
    overrideMode: 'UEFI',
    bootTargets: ['None', 'Pxe', 'Hdd', 'Cd', 'UefiHttp'],
    code: '/usr/share/OVMF/OVMF_CODE_4M.fd',
    nvramTemplate: '/usr/share/OVMF/OVMF_VARS_4M.fd',
    machine: 'q35',
    // Without an option ROM the firmware's own PXE and HTTP boot run instead of QEMU's iPXE.
    nicRom: 'none',
  },
  bios: {
    overrideMode: 'Legacy',
    bootTargets: ['None', 'Pxe', 'Hdd', 'Cd'],
    // Without graphics QEMU tells SeaBIOS to use the serial port; `-device sga` is gone from later QEMUs.
    machine: 'q35,graphics=off',
    nicRom: 'default',
  },
} as const satisfies Record<string, FirmwareDefinition>;

export type FirmwareName = keyof typeof firmwares;
export const firmwareNames = Object.keys(firmwares) as FirmwareName[];

export function firmware(name: FirmwareName): FirmwareDefinition {
  return firmwares[name];
}

/** QEMU arguments for the firmware itself; `nvram` is the machine's own copy of the template. */
export function firmwareArguments(name: FirmwareName, nvram: string): readonly string[] {
  const { code, machine } = firmware(name);
  const flash = (unit: number, options: string) => ['-drive', `if=pflash,format=raw,unit=${unit},${options}`];
  return [
    '-machine',
    machine,
    ...(code === undefined
      ? []
      : [...flash(0, `readonly=on,file=${code}`), ...flash(1, `file=${nvram.replaceAll(',', ',,')}`)]),
  ];
}

/** Properties of the network card that decide what boots from it. */
export function nicProperties(name: FirmwareName, rom: string | undefined): string {
  if (firmware(name).nicRom === 'none') return ',romfile=';
  // QEMU fits the PCI id of its own ROM to the card; another ROM is for the modern id alone (1af4:1041).
  return rom === undefined ? '' : `,romfile=${rom.replaceAll(',', ',,')},disable-legacy=on`;
}
