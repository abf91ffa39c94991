import type { MachineArchitecture } from '#base/architecture.ts';
import type { BootOverride } from './bootOverride.ts';
import { type Emulator, firmwareFile } from './emulator.ts';

/** A kind of firmware: the files it comes from and how QEMU is told to run it. */
interface FirmwareDefinition {
  /** The mode of its boot override, as Redfish names it. */
  readonly overrideMode: 'UEFI' | 'Legacy';
  readonly bootTargets: readonly BootOverride['target'][];
  readonly code?: string;
  /** The blank NVRAM that each machine gets a copy of. */
  readonly nvramTemplate?: string;
  readonly machine: string;
  /** Of the machine; `x86_64` unless said. */
  readonly architecture?: MachineArchitecture;
  /** QEMU's processor model, and how many; the newest and one unless said. */
  readonly processor?: string;
  readonly processors?: number;
  /** The bus of the CD drive: the last port of the PC's SATA controller unless said. */
  readonly cdBus?: 'scsi';
  /** Where it is no machine of this host's kind: the packages of its QEMU and firmware, and QEMU's path in them. */
  readonly emulator?: { readonly packages: readonly string[]; readonly program: string };
  /** Further QEMU arguments. */
  readonly arguments?: readonly string[];
  /** Whether it enforces Secure Boot from the first boot on, as its BMC says. */
  readonly secureBoot?: true;
  /** The boot ROM of the network card: none, or QEMU's own where nothing is said. */
  readonly nicRom: 'none' | 'default';
}

/** OVMF that keeps its variables in system management mode, out of the reach of what it has booted. */
const protectedNvram = {
  overrideMode: 'UEFI',
  bootTargets: ['None', 'Pxe', 'Hdd', 'Cd', 'UefiHttp'],
  code: '/usr/share/OVMF/OVMF_CODE_4M.secboot.fd',
  machine: 'q35,smm=on',
  arguments: [
    ...['-global', 'driver=cfi.pflash01,property=secure,value=on'],
    // Waking from suspend to memory would leave the protected mode out.
    ...['-global', 'ICH9-LPC.disable_s3=1'],
  ],
  nicRom: 'none',
} as const;

const firmwares = {
  uefi: {
    overrideMode: 'UEFI',
    bootTargets: ['None', 'Pxe', 'Hdd', 'Cd', 'UefiHttp'],
    code: '/usr/share/OVMF/OVMF_CODE_4M.fd',
    nvramTemplate: '/usr/share/OVMF/OVMF_VARS_4M.fd',
    machine: 'q35',
    // Without an option ROM the firmware's own PXE and HTTP boot run instead of QEMU's iPXE.
    nicRom: 'none',
  },
  /** Secure Boot on, with the keys of Microsoft, as servers are shipped. */
  'uefi-secure': { ...protectedNvram, nvramTemplate: '/usr/share/OVMF/OVMF_VARS_4M.ms.fd', secureBoot: true },
  /** No keys at all (set-up mode): whoever boots it first may enrol an operator's own. */
  'uefi-own-key': { ...protectedNvram, nvramTemplate: '/usr/share/OVMF/OVMF_VARS_4M.fd' },
  /** A 64-bit ARM server. */
  'uefi-arm64': {
    overrideMode: 'UEFI',
    bootTargets: ['None', 'Pxe', 'Hdd', 'Cd', 'UefiHttp'],
    code: '/usr/share/AAVMF/AAVMF_CODE.no-secboot.fd',
    nvramTemplate: '/usr/share/AAVMF/AAVMF_VARS.fd',
    architecture: 'aarch64',
    machine: 'virt,gic-version=3',
    // The network of its firmware wants random numbers of the processor (FEAT_RNG): without them there is no PXE. What else the newest
    // has that takes an emulator long, signed pointers above all, is off.
    processor: 'max,pauth=off,sve=off,sme=off',
    processors: 2,
    cdBus: 'scsi',
    emulator: {
      packages: ['qemu-system-arm', 'qemu-efi-aarch64'],
      program: 'usr/bin/qemu-system-aarch64',
    },
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

export function architecture(name: FirmwareName): MachineArchitecture {
  return firmware(name).architecture ?? 'x86_64';
}

/** QEMU arguments for the firmware itself; `nvram` is the machine's own copy of the template. */
export function firmwareArguments(name: FirmwareName, nvram: string, emulator?: Emulator): readonly string[] {
  const { code, machine, arguments: more = [] } = firmware(name);
  const flash = (unit: number, options: string) => ['-drive', `if=pflash,format=raw,unit=${unit},${options}`];
  return [
    '-machine',
    machine,
    ...more,
    ...(code === undefined
      ? []
      : [
          ...flash(0, `readonly=on,file=${firmwareFile(code, emulator).replaceAll(',', ',,')}`),
          ...flash(1, `file=${nvram.replaceAll(',', ',,')}`),
        ]),
  ];
}

/** Properties of the network card that decide what boots from it. */
export function nicProperties(name: FirmwareName, rom: string | undefined): string {
  if (firmware(name).nicRom === 'none') return ',romfile=';
  // QEMU fits the PCI id of its own ROM to the card; another ROM is for the modern id alone (1af4:1041).
  return rom === undefined ? '' : `,romfile=${rom.replaceAll(',', ',,')},disable-legacy=on`;
}
