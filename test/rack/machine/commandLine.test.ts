import { expect, test } from 'vitest';
import { noOverride } from '#rack/machine/bootOverride.ts';
import { qemuArguments } from '#rack/machine/commandLine.ts';
import { firmware } from '#rack/machine/firmware.ts';
import { machineRecord } from '../fakes/records.ts';

/** The values that follow `option`. */
function valuesOf(args: readonly string[], option: string): string[] {
  return args.flatMap((arg, index) => (arg === option ? [args[index + 1] ?? ''] : []));
}

const threeDisks = { disks: [{ size: '8G' }, { size: '4G', bus: 'nvme' }, { size: '2G', bus: 'sata' }] };

test('a UEFI machine runs OVMF on its own NVRAM, with its own network boot', () => {
  const args = qemuArguments(machineRecord(), noOverride);
  expect(valuesOf(args, '-drive')).toEqual([
    'if=pflash,format=raw,unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd',
    'if=pflash,format=raw,unit=1,file=/srv/rack/a/nvram.fd',
  ]);
  expect(valuesOf(args, '-device').find((device) => device.startsWith('virtio-net'))).toContain(',romfile=,');
  expect(valuesOf(args, '-machine')).toEqual(['q35']);
});

test('a machine that boots over IPv6 alone has its PXE over IPv4 off, and by HTTP neither is on', () => {
  const machine = machineRecord({ bootsOver: 'ipv6' });
  const off = (family: string) => `name=opt/org.tianocore/${family}PXESupport,string=n`;
  expect(valuesOf(qemuArguments(machine, noOverride), '-fw_cfg')).toEqual([off('IPv4')]);
  const byHttp = { target: 'UefiHttp', enabled: 'Once' } as const;
  expect(valuesOf(qemuArguments(machine, byHttp), '-fw_cfg')).toEqual([off('IPv4'), off('IPv6')]);
});

test('an ARM machine has a processor and a CD drive of its own kind, and its firmware from the emulator’s packages', () => {
  const emulator = { command: ['ld.so', 'qemu-system-aarch64'], root: '/toolbox' } as const;
  const args = qemuArguments({ ...machineRecord({ firmware: 'uefi-arm64' }), emulator }, noOverride);
  expect(valuesOf(args, '-machine')).toEqual(['virt,gic-version=3']);
  expect(valuesOf(args, '-cpu')).toEqual(['max,pauth=off,sve=off,sme=off']);
  expect(valuesOf(args, '-drive')[0]).toContain('file=/toolbox/usr/share/AAVMF/AAVMF_CODE.no-secboot.fd');
  expect(valuesOf(args, '-device').some((device) => device.startsWith('scsi-cd,bus=cdbus.0,id=cd0'))).toBe(
    true,
  );
});

test.each([
  ['uefi-secure', 'OVMF_VARS_4M.ms.fd'],
  ['uefi-own-key', 'OVMF_VARS_4M.fd'],
] as const)('a machine of %s keeps its keys where what it boots cannot change them', (name, template) => {
  const args = qemuArguments(machineRecord({ firmware: name }), noOverride);
  expect(valuesOf(args, '-machine')).toEqual(['q35,smm=on']);
  expect(valuesOf(args, '-global')).toContain('driver=cfi.pflash01,property=secure,value=on');
  expect(valuesOf(args, '-drive')[0]).toContain('OVMF_CODE_4M.secboot.fd');
  expect(firmware(name).nvramTemplate).toContain(template);
});

test('a BIOS machine runs SeaBIOS on the serial port and iPXE from the ROM of the card', () => {
  const args = qemuArguments(machineRecord({ firmware: 'bios' }), noOverride);
  expect(valuesOf(args, '-machine')).toEqual(['q35,graphics=off']);
  expect(valuesOf(args, '-drive')).toEqual([]);
  expect(args.join(' ')).not.toContain('romfile');
});

test('the firmware reads the UUID and the serial number', () => {
  const record = machineRecord();
  const args = qemuArguments(record, noOverride);
  expect(valuesOf(args, '-smbios')[0]).toContain(`serial=${record.serial},uuid=${record.uuid}`);
  expect(valuesOf(args, '-uuid')).toEqual([record.uuid]);
});

test('disks are on their buses with their serial numbers, in boot order before the network', () => {
  const record = machineRecord(threeDisks);
  const devices = valuesOf(qemuArguments(record, noOverride), '-device');
  const serials = record.disks.map(({ serial }) => serial);
  expect(devices).toContain(`virtio-blk-pci,id=disk0,drive=file-disk0,serial=${serials[0]},bootindex=1`);
  expect(devices).toContain(`nvme,id=disk1,drive=file-disk1,serial=${serials[1]},bootindex=2`);
  expect(devices).toContain(`ide-hd,bus=ide.2,id=disk2,drive=file-disk2,serial=${serials[2]},bootindex=3`);
  expect(devices.find((device) => device.startsWith('virtio-net'))).toContain('bootindex=4');
});

test('SCSI disks share one controller', () => {
  const record = machineRecord({
    disks: [
      { size: '1G', bus: 'scsi' },
      { size: '1G', bus: 'scsi' },
    ],
  });
  const devices = valuesOf(qemuArguments(record, noOverride), '-device');
  expect(devices.filter((device) => device.startsWith('virtio-scsi-pci'))).toHaveLength(1);
  expect(devices.filter((device) => device.startsWith('scsi-hd'))).toHaveLength(2);
});

test('commas in a path do not end the option', () => {
  const record = machineRecord();
  const disks = record.disks.map((disk) => ({ ...disk, file: '/srv/a,b/disk1.raw' }));
  const args = qemuArguments({ ...record, disks, nvram: '/srv/a,b/nvram.fd' }, noOverride);
  expect(args.join(' ')).toContain('file.filename=/srv/a,,b/disk1.raw');
  expect(args.join(' ')).toContain('file=/srv/a,,b/nvram.fd');
});

test('HTTP boot is asked for by switching PXE off', () => {
  const args = qemuArguments(machineRecord(), { target: 'UefiHttp', enabled: 'Once' });
  expect(valuesOf(args, '-fw_cfg')).toEqual([
    'name=opt/org.tianocore/IPv4PXESupport,string=n',
    'name=opt/org.tianocore/IPv6PXESupport,string=n',
  ]);
  expect(valuesOf(qemuArguments(machineRecord(), noOverride), '-fw_cfg')).toEqual([]);
});

test.each(['http', 'https'] as const)('a machine may boot by %s whatever its BMC says', (bootsOver) => {
  const args = valuesOf(qemuArguments(machineRecord({ bootsOver }), noOverride), '-fw_cfg');
  expect(args.filter((one) => one.includes('PXESupport'))).toHaveLength(2);
  const trusts = 'name=etc/edk2/https/cacerts,file=/srv/rack/a/https-cas.esl';
  expect(args.includes(trusts)).toBe(bootsOver === 'https');
});

test('a reset ends the run', () => {
  expect(valuesOf(qemuArguments(machineRecord(), noOverride), '-action')).toEqual(['reboot=shutdown']);
});

test('another boot ROM for a BIOS machine comes with the card that it is for', () => {
  const nic = (firmware: string) =>
    valuesOf(
      qemuArguments(machineRecord({ firmware, nicRom: '/srv/pxe-virtio.rom' }), noOverride),
      '-device',
    ).find((device) => device.startsWith('virtio-net'));
  expect(nic('bios')).toContain(',romfile=/srv/pxe-virtio.rom,disable-legacy=on,');
  expect(nic('uefi')).toContain(',romfile=,');
});

test('a machine on a trunk port has its cable in the switch, and each VLAN a tap there', () => {
  const record = machineRecord({ vlans: [42] });
  expect(valuesOf(qemuArguments(record, noOverride), '-netdev')).toEqual([
    'stream,id=net0,server=off,addr.type=unix,addr.path=/srv/rack/a/trunk.sock',
  ]);
  expect(record.trunk?.vlans).toEqual([{ id: 42, tap: 'tap0v42' }]);
});
