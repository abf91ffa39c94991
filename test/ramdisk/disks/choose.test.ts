import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RailheadError } from '#contract/errors.ts';
import type { DiskHints } from '#contract/steps.ts';
import { type Candidate, chooseDisk } from '#ramdisk/disks/choose.ts';
import type { Disk } from '#ramdisk/disks/disk.ts';

const GiB = 1024 ** 3;

function disk(name: string, facts: Partial<Disk> = {}): Disk {
  return {
    name,
    path: `/dev/${name}`,
    sizeBytes: 100 * GiB,
    logicalSectorSize: 512,
    rotational: false,
    removable: false,
    readOnly: false,
    usedBy: [],
    otherPaths: [],
    ...facts,
  };
}

function refusalOf(disks: Disk[], hints?: DiskHints, neededBytes?: number) {
  try {
    chooseDisk(disks, hints, neededBytes);
  } catch (error) {
    if (error instanceof RailheadError)
      return { code: error.code, message: error.message, ...error.details } as {
        code: string;
        message: string;
        reason: string;
        candidates: Candidate[];
      };
  }
  return expect.unreachable('it should have refused');
}

test('without hints the only fit disk is chosen', () => {
  expect(chooseDisk([disk('sda')]).name).toBe('sda');
});

test('two equal disks are refused, both listed as fit', () => {
  const refusal = refusalOf([disk('sda', { serial: 'A' }), disk('sdb', { serial: 'B' })]);
  expect(refusal).toMatchObject({ code: 'INVALID_INPUT', reason: 'ambiguous', path: 'disk' });
  expect(refusal.candidates).toEqual([
    { name: 'sda', sizeBytes: 100 * GiB, serial: 'A', reasons: [] },
    { name: 'sdb', sizeBytes: 100 * GiB, serial: 'B', reasons: [] },
  ]);
  expect(refusal.message).toContain('sda (serial A)');
});

test('a larger or first disk is not preferred', () => {
  expect(refusalOf([disk('sda'), disk('nvme0n1', { sizeBytes: 900 * GiB })]).reason).toBe('ambiguous');
});

// https://github.com/bohanwood/debi/issues/106: sda of 368 KiB was chosen over vda of 40 GiB.
test('a disk of 368 KiB is never the one without hints', () => {
  expect(
    chooseDisk([disk('sda', { sizeBytes: 368 * 1024 }), disk('vda', { sizeBytes: 40 * GiB })]).name,
  ).toBe('vda');
});

test.each<[string, Partial<Disk>, string]>([
  ['without a medium', { sizeBytes: 0 }, 'it has no medium (size 0)'],
  ['that is read-only', { readOnly: true }, 'it is read-only'],
  ['that is mounted', { usedBy: ['sda1 mounted on /'] }, 'in use: sda1 mounted on /'],
])('a disk %s is refused, hinted or not', (_, facts, reason) => {
  for (const hints of [{}, { name: 'sda' }]) {
    const refusal = refusalOf([disk('sda', facts)], hints);
    expect(refusal.code).toBe('INVALID_STATE');
    expect(refusal.candidates[0]?.reasons).toContain(reason);
  }
});

test.each<[string, Partial<Disk>]>([
  ['removable', { removable: true }],
  ['small', { sizeBytes: 2 * GiB }],
])('a %s disk is taken only when it is named', (_, facts) => {
  expect(refusalOf([disk('sda', facts)]).reason).toBe('no-candidate');
  expect(chooseDisk([disk('sda', facts)], { name: '/dev/sda' }).name).toBe('sda');
});

test('a disk that is smaller than the image is none, with both figures', () => {
  const refusal = refusalOf([disk('sda', { sizeBytes: 5 * GiB })], {}, 6 * GiB);
  expect(refusal.candidates[0]?.reasons).toEqual([`it has ${5 * GiB} bytes, the image needs ${6 * GiB}`]);
});

test.each<[string, DiskHints]>([
  ['a serial with blanks as lsblk pads it', { serial: '  S3Z8 NB0K  123 ' }],
  ['a WWN with 0x', { wwn: '0x5000C500A1B2C3D4' }],
  ['a WWN with naa.', { wwn: 'naa.5000c500a1b2c3d4' }],
  ['the name', { name: 'sdb' }],
  ['the exact size', { sizeBytes: 50 * GiB }],
  ['all of them', { serial: 'S3Z8 NB0K 123', name: '/dev/sdb', sizeBytes: 50 * GiB }],
])('%s finds the disk', (_, hints) => {
  const meant = disk('sdb', { serial: 'S3Z8 NB0K 123', wwn: '5000c500a1b2c3d4', sizeBytes: 50 * GiB });
  expect(chooseDisk([disk('sda', { serial: 'other' }), meant, disk('sdc')], hints).name).toBe('sdb');
});

test('all hints must match', () => {
  const refusal = refusalOf([disk('sda', { serial: 'A' })], { serial: 'A', name: 'sdb' });
  expect(refusal).toMatchObject({ code: 'INVALID_INPUT', reason: 'no-match' });
  expect(refusal.candidates[0]?.reasons).toEqual(['it does not match the hints']);
});

test('a hint that two disks match is refused even when only one of them is fit', () => {
  const disks = [disk('sda', { sizeBytes: 50 * GiB }), disk('sdb', { sizeBytes: 50 * GiB, readOnly: true })];
  expect(refusalOf(disks, { sizeBytes: 50 * GiB })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'ambiguous',
  });
});

test('a machine without disks says so', () => {
  expect(refusalOf([])).toMatchObject({ code: 'INVALID_STATE', reason: 'no-candidate', candidates: [] });
});

test('whatever the disks, what is chosen is fit and was the only one meant', () => {
  const anyDisk = fc.record({
    sizeBytes: fc.constantFrom(0, GiB, 8 * GiB, 16 * GiB),
    removable: fc.boolean(),
    readOnly: fc.boolean(),
    usedBy: fc.constantFrom<string[]>([], ['sda1 mounted on /']),
  });
  fc.assert(
    fc.property(fc.array(anyDisk, { maxLength: 5 }), (facts) => {
      const disks = facts.map((fact, index) => disk(`sd${index}`, fact));
      const fit = disks.filter(
        ({ sizeBytes, removable, readOnly, usedBy }) =>
          sizeBytes >= 4 * GiB && !removable && !readOnly && usedBy.length === 0,
      );
      if (fit.length === 1) expect(chooseDisk(disks)).toBe(fit[0]);
      else expect(refusalOf(disks).candidates).toHaveLength(disks.length);
    }),
  );
});
