import { expect, test } from 'vitest';
import type { Disk } from '#ramdisk/disks/disk.ts';
import { readAtaIdentify, readNvmeController } from '#ramdisk/wipe/abilities.ts';
import { disksToWipe, noAbilities, wipeMethod } from '#ramdisk/wipe/method.ts';

const disk: Disk = {
  name: 'sda',
  path: '/dev/sda',
  sizeBytes: 2 ** 35,
  logicalSectorSize: 512,
  model: 'QEMU HARDDISK',
  rotational: false,
  removable: false,
  readOnly: false,
  usedBy: [],
  otherPaths: [],
};

test.each([
  ['quick', { ...noAbilities, nvmeFormat: true }, 'ends-zeroed'],
  ['secure-erase', noAbilities, 'overwritten'],
  ['secure-erase', { ...noAbilities, nvmeFormat: true }, 'nvme-format'],
  ['secure-erase', { ...noAbilities, ataSecureErase: true }, 'ata-secure-erase'],
  ['crypto-erase', { ...noAbilities, nvmeCryptoErase: true }, 'nvme-crypto-erase'],
  ['crypto-erase', { ...noAbilities, ataCryptoScramble: true }, 'ata-crypto-scramble'],
] as const)('%s with %j is done by %s', (mode, abilities, method) => {
  expect(wipeMethod(mode, disk, abilities)).toBe(method);
});

test('nothing stands in for a crypto-erase: the disk and the other mode are named', () => {
  expect(() => wipeMethod('crypto-erase', disk, { ...noAbilities, nvmeFormat: true })).toThrow(
    expect.objectContaining({
      code: 'UNSUPPORTED',
      message: 'sda (QEMU HARDDISK) cannot forget its encryption key: wipe it with secure-erase',
      details: { reason: 'crypto-erase', device: 'sda' },
    }),
  );
});

test('every disk that can hold data is wiped; media that can be taken out and empty readers are not', () => {
  const others = [
    { ...disk, name: 'sdb', removable: true },
    { ...disk, name: 'sdc', sizeBytes: 0 },
  ];
  expect(disksToWipe([disk, ...others]).map(({ name }) => name)).toEqual(['sda']);
});

test.each([
  [{ usedBy: ['sda1 mounted on /data'] }, 'in-use', 'sda cannot be wiped: sda1 mounted on /data'],
  [{ readOnly: true }, 'read-only', 'sda cannot be wiped: it is read-only'],
])('a disk with %j is in the way of the whole wipe', (facts, reason, message) => {
  expect(() =>
    disksToWipe([
      { ...disk, name: 'sdz' },
      { ...disk, ...facts },
    ]),
  ).toThrow(expect.objectContaining({ code: 'INVALID_STATE', message, details: { reason, device: 'sda' } }));
});

test.each([
  [{ oacs: 0x0a, fna: 0x04 }, true, true],
  [{ oacs: 0x0a, fna: 0x03 }, true, false],
  [{ oacs: 0x08, fna: 0x04 }, false, false],
])('an NVMe controller with %j', (identify, nvmeFormat, nvmeCryptoErase) => {
  expect(readNvmeController(JSON.stringify(identify))).toMatchObject({ nvmeFormat, nvmeCryptoErase });
});

test.each(['', '{', '[]', 'null', '{"oacs":"x"}'])('what nvme-cli says as %j gives no ability', (text) => {
  expect(readNvmeController(text)).toEqual(noAbilities);
});

const security = (...lines: string[]) =>
  `Commands/features:\n\t   *\tSMART feature set\nSecurity: \n\tMaster password revision code = 65534\n${lines.map((line) => `\t${line}\n`).join('')}Logical Unit WWN Device Identifier: 5000\n`;

test('an ATA drive erases itself unless it is frozen; a locked one does too', () => {
  const open = security('\tsupported', 'not\tenabled', 'not\tlocked', 'not\tfrozen');
  expect(readAtaIdentify(open)).toMatchObject({ ataSecureErase: true, ataCryptoScramble: false });
  expect(readAtaIdentify(open.replace('not\tlocked', '\tlocked')).ataSecureErase).toBe(true);
  expect(readAtaIdentify(open.replace('not\tfrozen', '\tfrozen')).ataSecureErase).toBe(false);
  expect(readAtaIdentify(open.replace('\tsupported', 'not\tsupported')).ataSecureErase).toBe(false);
  expect(readAtaIdentify('\t   *\tCRYPTO_SCRAMBLE_EXT command\n').ataCryptoScramble).toBe(true);
  expect(readAtaIdentify('')).toEqual(noAbilities);
});
