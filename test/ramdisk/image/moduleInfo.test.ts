import { expect, test } from 'vitest';
import { moduleInfo, moduleName } from '#ramdisk/image/moduleInfo.ts';
import { loadOrder } from '#ramdisk/image/moduleTree.ts';
import { elfWithSection } from './tiny.ts';

const strings = [
  'license=GPL',
  'depends=libata,scsi-mod',
  'softdep=pre: crc32c post: ahci-extra',
  'firmware=intel/ice/ddp/ice.pkg',
  'firmware=bnx2x/*.fw',
];
const module = elfWithSection('.modinfo', Buffer.from(`${strings.join('\0')}\0`));

test('reads what a module depends on, would like and loads from a file', () => {
  expect(moduleInfo(module)).toEqual({
    depends: ['libata', 'scsi_mod'],
    softDepends: ['crc32c', 'ahci_extra'],
    firmware: ['intel/ice/ddp/ice.pkg', 'bnx2x/*.fw'],
  });
});

test('a module that depends on nothing, and a file that is none, have empty lists', () => {
  const nothing = { depends: [], softDepends: [], firmware: [] };
  expect(moduleInfo(elfWithSection('.modinfo', Buffer.from('depends=\0')))).toEqual(nothing);
  expect(moduleInfo(Buffer.from('no module'))).toEqual(nothing);
});

test('dashes and underscores in a name are the same', () => {
  expect(moduleName('xen-netfront')).toBe('xen_netfront');
});

test('modules are ordered so that each comes after what it depends on', () => {
  const info = (...depends: string[]) => ({ depends, softDepends: [], firmware: [], file: '' });
  const modules = new Map([
    ['ahci', info('libahci')],
    ['libahci', info('libata')],
    ['libata', info()],
    ['loop', info()],
  ]);
  expect(loadOrder({ version: '6', modules }, ['loop', 'ahci', 'absent'])).toEqual([
    'loop',
    'libata',
    'libahci',
    'ahci',
  ]);
});
