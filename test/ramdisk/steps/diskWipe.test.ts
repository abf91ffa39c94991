import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { run } from '#base/command.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { isReadBackClean, type WipeResult } from '#contract/wipe.ts';
import type { Disk } from '#ramdisk/disks/disk.ts';
import { wipeAll } from '#ramdisk/steps/diskWipe.ts';
import type { StepContext } from '#ramdisk/steps/index.ts';
import { withTarget } from '#ramdisk/wipe/erase.ts';
import { readBack, writeMarks } from '#ramdisk/wipe/marks.ts';
import { loopDisk, mayUseLoopDevices, type TestDisk } from '../fakes/loopDisk.ts';

const MiB = 1024 * 1024;
const open: Closable[] = [];
afterEach(() => closeAll(open.splice(0)));

async function makeDisk(sizeBytes: number): Promise<TestDisk> {
  const disk = await loopDisk({ sizeBytes, fill: 0xff });
  open.push({ close: disk.remove });
  return disk;
}

const listed = (disk: TestDisk, sizeBytes: number): Disk => ({
  name: path.basename(disk.path),
  path: disk.path,
  sizeBytes,
  logicalSectorSize: 512,
  serial: 'LOOP',
  rotational: false,
  removable: false,
  readOnly: false,
  usedBy: [],
  otherPaths: [],
});

const phases: [string, number | undefined, number | undefined][] = [];
const context = (signal = AbortSignal.timeout(15_000)): StepContext => ({
  operationId: 'op_1',
  nodeId: 'node_1',
  sealing: generateKeyPairSync('x25519').privateKey,
  secret: () => expect.unreachable('a wipe needs no secret'),
  siteImage: () => expect.unreachable('a wipe reads no image'),
  ca: '',
  centre: {},
  deadline: Date.now() + 10_000,
  progress: (...told) => phases.push(told as never),
  say: () => {},
  signal,
});

const wipe = async (disks: Disk[], mode: 'quick' | 'secure-erase' | 'none') =>
  (await wipeAll(async () => disks, mode, context())).result as WipeResult;

test.runIf(mayUseLoopDevices)(
  'secure-erase leaves zeros everywhere on every disk, and says what reading back showed',
  async () => {
    const disks = [await makeDisk(24 * MiB), await makeDisk(8 * MiB)];
    const result = await wipe(
      disks.map((disk, at) => listed(disk, (at === 0 ? 24 : 8) * MiB)),
      'secure-erase',
    );
    expect(result.disks.map(({ method, sizeBytes }) => [method, sizeBytes])).toEqual([
      ['overwritten', 24 * MiB],
      ['overwritten', 8 * MiB],
    ]);
    expect(isReadBackClean(result)).toBe(true);
    for (const disk of disks) expect((await disk.content()).every((byte) => byte === 0)).toBe(true);
    expect(phases.at(-1)).toEqual(['wiping', 32 * MiB, 32 * MiB]);
  },
);

test.runIf(mayUseLoopDevices)(
  'after a quick wipe nothing finds a table or a file system, and the middle is as it was',
  async () => {
    const disk = await makeDisk(64 * MiB);
    await run('sgdisk', ['-n', '1:2048:+30M', disk.path]);
    await run('partx', ['-u', disk.path]);
    await run('mkfs.vfat', ['-n', 'DATA', `${disk.path}p1`]);
    const result = await wipe([listed(disk, 64 * MiB)], 'quick');
    expect(result.disks[0]).toMatchObject({ method: 'ends-zeroed', serial: 'LOOP' });
    expect(isReadBackClean(result)).toBe(true);
    const content = await disk.content();
    const zero = (from: number, to: number) => content.subarray(from, to).every((byte) => byte === 0);
    expect([zero(0, 5 * MiB), zero(27 * MiB, 31 * MiB), zero(60 * MiB, 64 * MiB)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(content[16 * MiB]).toBe(0xff);
    await expect(run('blkid', ['-p', disk.path])).rejects.toThrow();
  },
);

test.runIf(mayUseLoopDevices)('a device that only pretended to wipe is found out', async () => {
  const disk = listed(await makeDisk(8 * MiB), 8 * MiB);
  const offsets = [0, MiB, 8 * MiB - 4096];
  const marks = await withTarget(disk, (target) => writeMarks(target, offsets));
  await withTarget(disk, (target) => target.zero(MiB, 4096));
  const found = await withTarget(disk, (target) => readBack(target, marks, false));
  expect(found).toEqual({ blocks: 3, changed: 1 });
  const told = {
    device: disk.path,
    sizeBytes: 8 * MiB,
    method: 'nvme-format',
    seconds: 1,
    readBack: found,
  } as const;
  expect(isReadBackClean({ mode: 'secure-erase', disks: [told] })).toBe(false);
});

test('mode none touches nothing and proves nothing', async () => {
  const result = (await wipeAll(() => expect.unreachable('no disk is looked at'), 'none', context())).result;
  expect(result).toEqual({ mode: 'none', disks: [] });
  expect(isReadBackClean(result as WipeResult)).toBe(false);
});

test.runIf(mayUseLoopDevices)('a disk in use stops the wipe before any disk is touched', async () => {
  const [free, used] = [await makeDisk(8 * MiB), await makeDisk(8 * MiB)];
  const disks = [listed(free, 8 * MiB), { ...listed(used, 8 * MiB), usedBy: ['held by md0'] }];
  await expect(wipe(disks, 'secure-erase')).rejects.toMatchObject({ details: { reason: 'in-use' } });
  expect((await free.content()).every((byte) => byte === 0xff)).toBe(true);
});

test.runIf(mayUseLoopDevices)('a cancelled wipe ends with the reason of its cancellation', async () => {
  const disk = await makeDisk(8 * MiB);
  const wiping = wipeAll(
    async () => [listed(disk, 8 * MiB)],
    'secure-erase',
    context(AbortSignal.abort('cancelled')),
  );
  await expect(wiping).rejects.toBe('cancelled');
});
