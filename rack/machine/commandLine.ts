import type { MachineRecord } from '../record.ts';
import { type BootOverride, bootOrder, bootsByHttp, cdId, nicId } from './bootOverride.ts';
import { diskArguments } from './disks.ts';
import { firmware, firmwareArguments, nicProperties } from './firmware.ts';
import { httpsCasFile } from './httpsCas.ts';

export const qemuProgram = 'qemu-system-x86_64';

/** The descriptor that QEMU finds its QMP connection on. */
export const qmpDescriptor = 3;

/**
 * QEMU's arguments for one run of a machine, from power on or reset to the next reset or power off. A reset ends the
 * run (`reboot=shutdown`), so that each boot starts with the boot order that holds for it and with an empty memory.
 * The console is standard input and output; the machine stands still until QMP says `cont`.
 */
export function qemuArguments(machine: MachineRecord, override: BootOverride): readonly string[] {
  const order = bootOrder(override, machine.disks.length);
  const bootIndex = (device: string) =>
    order.includes(device) ? `,bootindex=${order.indexOf(device) + 1}` : '';
  return [
    ...runControl(machine),
    ...firmwareArguments(machine.firmware, machine.nvram, machine.emulator),
    ...hardware(machine),
    ...identity(machine),
    ...diskArguments(machine.disks, bootIndex),
    ...cdDrive(machine, bootIndex(cdId)),
    ...network(machine, bootIndex(nicId)),
    ...withoutPxe(machine, override),
    ...trustedCas(machine),
  ];
}

/** OVMF offers HTTP boot first only where PXE is off; with PXE over IPv4 on it begins with IPv6 after 65 s. */
function withoutPxe({ bootsOver }: MachineRecord, override: BootOverride): string[] {
  const byHttp = bootsOver === 'http' || bootsOver === 'https' || bootsByHttp(override);
  const off = byHttp ? ['IPv4', 'IPv6'] : bootsOver === 'ipv6' ? ['IPv4'] : [];
  return off.flatMap((family) => ['-fw_cfg', `name=opt/org.tianocore/${family}PXESupport,string=n`]);
}

function trustedCas(machine: MachineRecord): string[] {
  if (machine.bootsOver !== 'https') return [];
  const file = httpsCasFile(machine).replaceAll(',', ',,');
  return ['-fw_cfg', `name=etc/edk2/https/cacerts,file=${file}`];
}

function runControl({ name }: MachineRecord): string[] {
  return [
    ...['-name', name, '-no-user-config', '-nodefaults', '-display', 'none', '-S'],
    ...['-action', 'reboot=shutdown'],
    ...['-chardev', 'stdio,id=console,signal=off', '-serial', 'chardev:console'],
    ...['-chardev', `socket,id=qmp,fd=${qmpDescriptor}`, '-mon', 'chardev=qmp,mode=control'],
  ];
}

/** A small translation buffer: QEMU's default may take as much memory as the machine itself. */
function hardware({ memoryMiB, firmware: name }: MachineRecord): string[] {
  const { processor = 'max', processors = 1 } = firmware(name);
  return [
    ...['-accel', 'tcg,tb-size=128', '-cpu', processor, '-smp', `${processors}`, '-m', `${memoryMiB}`],
    ...['-device', 'virtio-rng-pci'],
  ];
}

function cdDrive({ firmware: name }: MachineRecord, bootIndex: string): string[] {
  if (firmware(name).cdBus === undefined) return ['-device', `ide-cd,bus=ide.5,id=${cdId}${bootIndex}`];
  return ['-device', 'virtio-scsi-pci,id=cdbus', '-device', `scsi-cd,bus=cdbus.0,id=${cdId}${bootIndex}`];
}

/** Without SMBIOS data the firmware sends a UUID of zeros in DHCP option 97. */
function identity({ uuid, serial }: MachineRecord): string[] {
  return [
    '-uuid',
    uuid,
    '-smbios',
    `type=1,manufacturer=Railhead,product=Virtual machine,serial=${serial},uuid=${uuid}`,
  ];
}

function network({ tap, trunk, mac, firmware, nicRom }: MachineRecord, bootIndex: string): string[] {
  const cable =
    trunk === undefined
      ? `tap,id=net0,ifname=${tap},script=no,downscript=no`
      : `stream,id=net0,server=off,addr.type=unix,addr.path=${trunk.socket.replaceAll(',', ',,')}`;
  return [
    ...['-netdev', cable],
    ...[
      '-device',
      `virtio-net-pci,id=${nicId},netdev=net0,mac=${mac}${nicProperties(firmware, nicRom)}${bootIndex}`,
    ],
  ];
}
