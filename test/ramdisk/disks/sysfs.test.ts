import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listDisks } from '#ramdisk/disks/sysfs.ts';
import { parseMounts } from '#ramdisk/disks/uses.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'railhead-sysfs-'));
  await tree({ 'sys/block/.keep': '', 'proc/swaps': 'Filename Type\n', 'proc/self/mountinfo': '' });
});
afterEach(() => rm(root, { recursive: true }));

/** Files of a machine's /sys and /proc, made anew for each test. */
async function tree(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
}

const vitals = (name: string, more: Record<string, string | Buffer> = {}) => {
  const files = {
    size: '8388608\n',
    removable: '0\n',
    ro: '0\n',
    'queue/logical_block_size': '512\n',
    ...more,
  };
  return Object.fromEntries(
    Object.entries({ 'device/model': 'DISK   \n', ...files }).map(([file, content]) => [
      `sys/block/${name}/${file}`,
      content,
    ]),
  );
};

test('a virtio disk is read with its serial', async () => {
  await tree(vitals('vda', { serial: 'disk-1\n', 'queue/rotational': '1\n', dev: '254:0\n' }));
  expect(await listDisks(root)).toEqual([
    {
      name: 'vda',
      path: '/dev/vda',
      sizeBytes: 4294967296,
      logicalSectorSize: 512,
      serial: 'disk-1',
      model: 'DISK',
      rotational: true,
      removable: false,
      readOnly: false,
      usedBy: [],
      otherPaths: [],
    },
  ]);
});

test('a SCSI disk has its serial in page 0x80 and its name in wwid', async () => {
  const page = Buffer.concat([Buffer.from([0, 0x80, 0, 16]), Buffer.from('   S3Z8 NB0K\x00\x00\x00\x00')]);
  await tree(vitals('sda', { 'device/vpd_pg80': page, 'device/wwid': 'naa.5000C500A1B2C3D4\n' }));
  expect(await listDisks(root)).toMatchObject([{ serial: 'S3Z8 NB0K', wwn: '5000c500a1b2c3d4' }]);
});

test('an NVMe namespace with sectors of 4096 bytes keeps its size in bytes', async () => {
  const nvme = {
    wwid: 'eui.0025385b71b00d4a\n',
    'device/serial': 'S4EW\n',
    'queue/logical_block_size': '4096\n',
  };
  await tree(vitals('nvme0n1', nvme));
  expect(await listDisks(root)).toMatchObject([
    { wwn: '0025385b71b00d4a', serial: 'S4EW', logicalSectorSize: 4096, sizeBytes: 4294967296 },
  ]);
});

test('devices without hardware, hidden paths and optical drives are no disks', async () => {
  await tree({ 'sys/block/loop0/size': '8\n', 'sys/block/dm-0/size': '8\n' });
  await tree({ ...vitals('nvme0c0n1', { hidden: '1\n' }), ...vitals('sr0') });
  expect(await listDisks(root)).toEqual([]);
});

test('two paths with one WWN are one disk, in use when either is', async () => {
  const wwid = { 'device/wwid': 'naa.600a098038303053\n' };
  await tree({
    ...vitals('sda', wwid),
    ...vitals('sdb', { ...wwid, 'holders/dm-0/.keep': '' }),
    ...vitals('sdc'),
  });
  expect(await listDisks(root)).toMatchObject([
    { name: 'sda', otherPaths: ['sdb'], usedBy: ['sdb held by dm-0'] },
    { name: 'sdc', otherPaths: [] },
  ]);
});

test('one WWN on disks of different size is a cheap bridge, not a path', async () => {
  const wwid = { 'device/wwid': 'naa.0000000000000001\n' };
  await tree({ ...vitals('sda', wwid), ...vitals('sdb', { ...wwid, size: '16777216\n' }) });
  expect(await listDisks(root)).toHaveLength(2);
});

test('mounts, swap and holders of partitions are uses of the disk', async () => {
  await tree(vitals('sda', { 'sda1/dev': '8:1\n', 'sda2/dev': '8:2\n', 'sda3/holders/md127/.keep': '' }));
  await tree({
    'proc/self/mountinfo': '29 1 8:1 / /mnt/with\\040blank rw - ext4 /dev/sda1 rw\n',
    'proc/swaps': 'Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n',
  });
  const [disk] = await listDisks(root);
  expect(disk?.usedBy).toEqual([
    'sda1 mounted on /mnt/with blank',
    'sda2 used as swap',
    'sda3 held by md127',
  ]);
});

test('the read-only and removable flags are the disk own', async () => {
  await tree(vitals('sda', { ro: '1\n', removable: '1\n' }));
  expect(await listDisks(root)).toMatchObject([{ readOnly: true, removable: true }]);
});

test('lines that are no mounts are passed over', () => {
  expect(parseMounts('\nnonsense\n1 2\n')).toEqual(new Map());
});

test('the disks of this machine can be listed', async () => {
  for (const disk of await listDisks()) expect(disk.path).toBe(`/dev/${disk.name}`);
});
