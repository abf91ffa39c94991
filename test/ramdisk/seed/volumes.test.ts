import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { run } from '#base/command.ts';
import { readGpt } from '#ramdisk/gpt.ts';
import { withMounted } from '#ramdisk/seed/mounted.ts';
import { probeVolume, volumesOf } from '#ramdisk/seed/volumes.ts';
import { fileDisk, loopDisk, mayUseLoopDevices } from '../fakes/loopDisk.ts';

const MiB = 1024 * 1024;
const disk = await fileDisk({ sizeBytes: 16 * MiB });
afterAll(disk.remove);

test('the partitions of a GPT are found by its entries', async () => {
  await run('sgdisk', ['-n', '1:2048:+4M', '-t', '1:ef00', '-n', '2:0:+2M', disk.file]);
  const head = readFileSync(disk.file).subarray(0, MiB);
  expect(volumesOf(head, readGpt(head), 512)).toEqual([
    { isEsp: true, offset: MiB, sizeBytes: 4 * MiB },
    { isEsp: false, offset: 5 * MiB, sizeBytes: 2 * MiB },
  ]);
});

test('the primary partitions of an MBR table are, in sectors of the disk', async () => {
  const head = Buffer.alloc(MiB);
  head.writeUInt16BE(0x55aa, 510);
  const record = (at: number, type: number, first: number, count: number) => {
    head.writeUInt8(type, at + 4);
    head.writeUInt32LE(first, at + 8);
    head.writeUInt32LE(count, at + 12);
  };
  record(446, 0xef, 2048, 8192);
  record(462, 0x83, 10_240, 100);
  record(478, 0x05, 20_480, 100);
  expect(volumesOf(head, undefined, 512)).toEqual([
    { isEsp: true, offset: MiB, sizeBytes: 4 * MiB },
    { isEsp: false, offset: 5 * MiB, sizeBytes: 51_200 },
  ]);
  expect(volumesOf(head, undefined, 4096)[0]).toEqual({
    isEsp: true,
    offset: 8 * MiB,
    sizeBytes: 32 * MiB,
  });
});

test('a disk without a table has none, whatever its first bytes are', () => {
  expect(volumesOf(Buffer.alloc(MiB), undefined, 512)).toEqual([]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
      for (const { offset, sizeBytes } of volumesOf(Buffer.from(bytes), undefined, 512))
        expect(offset * sizeBytes).toBeGreaterThan(0);
    }),
  );
});

test('the file system on a volume is found by its place', async () => {
  await run('mkfs.vfat', ['-n', 'CIDATA', '--offset', '2048', disk.file, `${4 * 1024}`]);
  const volume = { isEsp: false, offset: MiB, sizeBytes: 4 * MiB };
  expect(await probeVolume(disk.file, volume)).toEqual({ ...volume, fileSystem: 'vfat', label: 'CIDATA' });
  const empty = { isEsp: false, offset: 8 * MiB, sizeBytes: MiB };
  expect(await probeVolume(disk.file, empty)).toEqual(empty);
});

test.runIf(mayUseLoopDevices)('a volume of a disk without a table is mounted by its place', async () => {
  const raw = await loopDisk({ sizeBytes: 16 * MiB });
  try {
    execFileSync('mkfs.ext4', ['-q', '-E', `offset=${4 * MiB}`, raw.path, `${8 * 1024}`]);
    const place = ['-o', `loop,offset=${4 * MiB},sizelimit=${8 * MiB}`];
    const names = await withMounted(raw.path, 'ext4', (root) => run('ls', [root]), place);
    expect(names.trim()).toBe('lost+found');
  } finally {
    await raw.remove();
  }
});
