import { expect, test } from 'vitest';
import { parseMachine, rackSpec } from '#rack/spec.ts';

test('a rack that says nothing has one machine of each firmware', () => {
  const { prefix, machines } = rackSpec({});
  expect(prefix).toBe('rh');
  expect(machines.map(({ name, firmware }) => [name, firmware])).toEqual([
    ['uefi-1', 'uefi'],
    ['bios-1', 'bios'],
  ]);
  expect(machines[0]).toMatchObject({ memoryMiB: 768, faults: [], disks: [{ size: '8G', bus: 'virtio' }] });
});

test('a machine is described in one word', () => {
  const machine = parseMachine(
    'a:bios:disk=8G,disk=512M@nvme,memory=1024,fault=slow,rom=pxe.rom,rtc=+2h,vlan=42,vlan=7',
  );
  expect(rackSpec({ machines: [machine] }).machines).toEqual([
    {
      name: 'a',
      firmware: 'bios',
      memoryMiB: 1024,
      disks: [
        { size: '8G', bus: 'virtio' },
        { size: '512M', bus: 'nvme' },
      ],
      faults: ['slow'],
      nicRom: 'pxe.rom',
      rtc: '+2h',
      vlans: [42, 7],
    },
  ]);
});

test('a machine needs no option', () => {
  expect(rackSpec({ machines: [parseMachine('a:uefi')] }).machines[0]).toMatchObject({ disks: [] });
});

test.each([
  ['a:uefi:disc=8G', 'disc'],
  ['a:uefi:constructor=1', 'constructor'],
])('%s has an option that is not known', (text, option) => {
  expect(() => parseMachine(text)).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', details: { option } }),
  );
});

test.each([
  ['a:efi', 'machines[0].firmware'],
  ['A:uefi', 'machines[0].name'],
  ['../a:uefi', 'machines[0].name'],
  ['a', 'machines[0].firmware'],
  ['a:uefi:disk=8', 'machines[0].disks[0].size'],
  ['a:uefi:disk=8G@floppy', 'machines[0].disks[0].bus'],
  ['a:uefi:memory=lots', 'machines[0].memoryMiB'],
  ['a:uefi:rtc=yesterday', 'machines[0].rtc'],
  ['a:uefi:fault=fire', 'machines[0].faults[0]'],
])('%s is refused by the name of its field', (text, path) => {
  const check = () => rackSpec({ machines: [parseMachine(text)] });
  expect(check).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }));
  expect(check).toThrow(expect.objectContaining({ details: expect.objectContaining({ path }) }));
});

test('two machines of one name are refused', () => {
  const machines = [parseMachine('a:uefi'), parseMachine('a:bios')];
  expect(() => rackSpec({ machines })).toThrow('two are called a');
});
