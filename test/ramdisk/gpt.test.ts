import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { bytesNeeded, espType, moveBackup, readGpt, readPartitions } from '#ramdisk/gpt.ts';

const MiB = 1024 * 1024;
const directory = mkdtempSync(path.join(tmpdir(), 'railhead-gpt-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A 64 MiB image as sgdisk makes it: an ESP and a Linux partition up to its end. sgdisk sleeps a second after each write: made once. */
const image = path.join(directory, 'image');
writeFileSync(image, '');
truncateSync(image, 64 * MiB);
execFileSync('sgdisk', ['-n', '1:2048:+16M', '-t', '1:ef00', '-n', '2:0:0', '-t', '2:8300', image]);

function makeImage(name: string): string {
  const file = path.join(directory, name);
  copyFileSync(image, file);
  return file;
}

function headOf(file: string): Buffer {
  const head = Buffer.alloc(MiB);
  readSync(openSync(file, 'r'), head, 0, MiB, 0);
  return head;
}

/** Grows or shrinks the file to a disk of that size and writes the moved table. */
function fit(file: string, diskBytes: number): void {
  const head = headOf(file);
  const gpt = readGpt(head);
  if (gpt === undefined) throw new Error('no table');
  const moved = moveBackup(head, gpt, diskBytes);
  truncateSync(file, diskBytes);
  const out = openSync(file, 'r+');
  writeSync(out, moved.head, 0, moved.head.length, 0);
  writeSync(out, moved.backup, 0, moved.backup.length, moved.backupOffset);
}

const verdict = (file: string) => execFileSync('sgdisk', ['-v', file], { encoding: 'utf8', stdio: 'pipe' });

test('partitions are read with their types and places', () => {
  const head = headOf(makeImage('read'));
  const gpt = readGpt(head);
  expect(gpt).toMatchObject({ sectorSize: 512, ownLba: 1, alternateLba: 131071, entryCount: 128 });
  const partitions = gpt && readPartitions(head, gpt);
  expect(partitions).toMatchObject([
    { number: 1, type: espType, firstLba: 2048, lastLba: 34815 },
    { number: 2, type: '0fc63daf-8483-4772-8e79-3d69d8477de4' },
  ]);
  expect(gpt && bytesNeeded(head, gpt)).toBeLessThanOrEqual(64 * MiB);
});

// I11: a 64 MiB image on a larger disk, the stale backup of an older layout at its end.
test.each([64 * MiB, 64 * MiB + 512, 128 * MiB, 3 * 1024 * MiB])(
  'a table moved to the end of a disk of %i bytes is without fault for sgdisk',
  (diskBytes) => {
    const file = makeImage(`moved-${diskBytes}`);
    fit(file, diskBytes);
    expect(verdict(file)).toContain('No problems found');
    const gpt = readGpt(headOf(file));
    expect(gpt).toMatchObject({ alternateLba: diskBytes / 512 - 1, lastUsableLba: diskBytes / 512 - 34 });
    expect(headOf(file).readUInt32LE(446 + 12)).toBe(diskBytes / 512 - 1);
  },
);

test('what sgdisk itself makes of the moved table is the same', () => {
  const [ours, theirs] = [makeImage('ours'), path.join(directory, 'theirs')];
  writeFileSync(theirs, readFileSync(ours));
  fit(ours, 128 * MiB);
  truncateSync(theirs, 128 * MiB);
  execFileSync('sgdisk', ['-e', theirs]);
  expect(readGpt(headOf(ours))).toEqual(readGpt(headOf(theirs)));
});

test('a table for sectors of 4096 bytes is found and moved', () => {
  const head = Buffer.alloc(MiB);
  // The same header and entries, laid out as for a 4096-byte disk.
  const source = headOf(makeImage('4k'));
  source.copy(head, 4096, 512, 1024);
  source.copy(head, 8192, 1024, 1024 + 128 * 128);
  const gpt = readGpt(head);
  expect(gpt).toMatchObject({ sectorSize: 4096 });
  const moved = gpt && moveBackup(head, gpt, 256 * MiB);
  expect(moved?.backupOffset).toBe(256 * MiB - 5 * 4096);
  expect(moved && readGpt(moved.head)).toMatchObject({ alternateLba: 65535, lastUsableLba: 65530 });
});

test('a table whose checksum does not hold is no table', () => {
  for (const at of [512 + 48, 1024 + 40]) {
    const head = headOf(makeImage('spoilt'));
    head[at] = (head[at] ?? 0) ^ 1;
    expect(readGpt(head)).toBeUndefined();
  }
});

test('no bytes make the reader throw', () => {
  const good = headOf(makeImage('fuzz')).subarray(0, 17 * 1024);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(1100), fc.nat(255)), { maxLength: 8 }),
      fc.nat(good.length),
      (spoils, length) => {
        const head = Buffer.from(good.subarray(0, length));
        for (const [at, byte] of spoils) if (at < head.length) head[at] = byte;
        const gpt = readGpt(head);
        if (gpt !== undefined) readPartitions(head, gpt);
      },
    ),
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => void readGpt(Buffer.from(bytes))));
});
