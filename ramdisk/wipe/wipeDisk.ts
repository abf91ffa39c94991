import type { WipedDisk, WipeMethod } from '#contract/wipe.ts';
import type { Disk } from '../disks/disk.ts';
import { type EraseProgress, erase, partitionRanges, withTarget } from './erase.ts';
import { placesToMark, readBack, writeMarks } from './marks.ts';
import { quickRanges } from './ranges.ts';

/** After these the disk reads as zeros; a device's own erase may leave anything but what was there. */
const zeroing: readonly WipeMethod[] = ['ends-zeroed', 'overwritten'];

/** Marks blocks of a disk, wipes it, and reads the marks back: what is said of a disk is what reading it showed. */
export async function wipeDisk(
  disk: Disk,
  method: WipeMethod,
  progress: EraseProgress,
  signal: AbortSignal,
): Promise<WipedDisk> {
  const begun = performance.now();
  const { path: device, sizeBytes, serial, wwn, model } = disk;
  const whole = [{ offset: 0, length: sizeBytes }];
  const ranges = method === 'ends-zeroed' ? quickRanges(sizeBytes, await partitionRanges(disk)) : whole;
  const marks = await withTarget(disk, (target) => writeMarks(target, placesToMark(sizeBytes, ranges)));
  await erase(disk, method, progress, signal);
  const found = await withTarget(disk, (target) => readBack(target, marks, zeroing.includes(method)));
  return {
    device,
    sizeBytes,
    ...(serial !== undefined && { serial }),
    ...(wwn !== undefined && { wwn }),
    ...(model !== undefined && { model }),
    method,
    seconds: Math.round((performance.now() - begun) / 10) / 100,
    readBack: found,
  };
}
