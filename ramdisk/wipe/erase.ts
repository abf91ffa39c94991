import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { CommandFailed, run } from '#base/command.ts';
import { ignore } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import type { WipeMethod } from '#contract/wipe.ts';
import type { Disk } from '../disks/disk.ts';
import { openTarget, type Target } from '../disks/target.ts';
import type { Range } from './marks.ts';
import { quickRanges } from './ranges.ts';

/** Zeroed between two looks at the signal; large enough that the device is never idle. */
const piece = 256 * 1024 * 1024;

/**
 * The password that a drive is given for as long as its erase takes, which removes it. It is no secret: a wipe that lost power in the middle
 * leaves a locked drive, and the next wipe erases it by this word (ACS-4 7.36: the erase is allowed on a locked drive).
 */
const erasePassword = 'railhead';

export type EraseProgress = (doneBytes: number) => void;

/**
 * Wipes one disk by the chosen method and returns when the device says that it is done.
 * @throws RailheadError DRIVER_ERROR (`reason` the method) with what the device or its tool said
 */
export async function erase(
  disk: Disk,
  method: WipeMethod,
  progress: EraseProgress,
  signal: AbortSignal,
): Promise<void> {
  switch (method) {
    case 'ends-zeroed':
      return zeroRanges(disk, quickRanges(disk.sizeBytes, await partitionRanges(disk)), progress, signal);
    case 'overwritten':
      return zeroRanges(disk, [{ offset: 0, length: disk.sizeBytes }], progress, signal);
    case 'nvme-format':
      return command(disk, method, ['nvme', 'format', disk.path, '--ses=1', '--force']);
    case 'nvme-crypto-erase':
      return command(disk, method, ['nvme', 'format', disk.path, '--ses=2', '--force']);
    case 'ata-crypto-scramble':
      return command(disk, method, [
        'hdparm',
        '--yes-i-know-what-i-am-doing',
        '--sanitize-crypto-scramble',
        disk.path,
      ]);
    case 'ata-secure-erase':
      return secureErase(disk);
  }
}

/** Both ends of a quick wipe, or the whole disk, as the kernel zeroes it. */
async function zeroRanges(
  disk: Disk,
  ranges: readonly Range[],
  progress: EraseProgress,
  signal: AbortSignal,
): Promise<void> {
  const target = await openTarget(disk.path);
  try {
    let done = 0;
    for (const { offset, length } of ranges)
      for (let at = 0; at < length; at += piece) {
        signal.throwIfAborted();
        const bytes = Math.min(piece, length - at);
        await target.zero(offset + at, bytes);
        done += bytes;
        progress(done);
      }
    await target.sync();
    await target.rereadPartitions();
  } finally {
    await target.close();
  }
}

/** The partitions that the kernel shows; sysfs counts in 512 bytes whatever the sector size. */
export async function partitionRanges({ name }: Pick<Disk, 'name'>, root = '/'): Promise<Range[]> {
  const directory = path.join(root, 'sys/block', name);
  const names = ((await readdir(directory).catch(ignore)) ?? []).filter((entry) => entry.startsWith(name));
  const sectors = async (entry: string, file: string) =>
    Number(await readFile(path.join(directory, entry, file), 'utf8').catch(() => '0'));
  return Promise.all(
    names.map(async (entry) => ({
      offset: (await sectors(entry, 'start')) * 512,
      length: (await sectors(entry, 'size')) * 512,
    })),
  );
}

async function secureErase(disk: Disk): Promise<void> {
  const user = ['hdparm', '--user-master', 'u'];
  // A locked drive has the password already and refuses to be given one.
  await command(disk, 'ata-secure-erase', [...user, '--security-set-pass', erasePassword, disk.path]).catch(
    ignore,
  );
  await command(disk, 'ata-secure-erase', [...user, '--security-erase', erasePassword, disk.path]);
}

/** No time limit of its own: a large drive takes hours, and a device that erases cannot be told to stop. */
async function command(disk: Disk, method: WipeMethod, [program = '', ...args]: string[]): Promise<void> {
  try {
    await run(program, args);
  } catch (error) {
    const said = error instanceof CommandFailed ? error.stderr.trim() : String(error);
    const details = { reason: method, device: disk.path };
    throw new RailheadError('DRIVER_ERROR', `${disk.path} was not wiped: ${said}`, details, error);
  }
}

/** Opens the disk for as long as `work` takes; an erase command wants it closed. */
export async function withTarget<Value>(
  disk: Disk,
  work: (target: Target) => Promise<Value>,
): Promise<Value> {
  const target = await openTarget(disk.path);
  try {
    return await work(target);
  } finally {
    await target.close();
  }
}
