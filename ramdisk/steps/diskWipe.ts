import type { WipedDisk, WipeMethod, WipeMode, WipeResult } from '#contract/wipe.ts';
import type { Disk } from '../disks/disk.ts';
import { settledDisks } from '../disks/settled.ts';
import { listDisks } from '../disks/sysfs.ts';
import { eraseAbilities } from '../wipe/abilities.ts';
import { disksToWipe, wipeMethod } from '../wipe/method.ts';
import { wipeDisk } from '../wipe/wipeDisk.ts';
import type { Step, StepContext, StepOutcome } from './index.ts';

/** Wipes every disk of the machine that can hold data. What can be refused is refused before any disk is touched. */
export const diskWipe: Step<'disk.wipe'> = ({ mode }, context) => wipeAll(listDisks, mode, context);

/** The same on the disks that `disksNow` tells of. */
export async function wipeAll(
  disksNow: () => Promise<Disk[]>,
  mode: WipeMode,
  context: StepContext,
): Promise<StepOutcome> {
  const { signal } = context;
  const disks = mode === 'none' ? [] : disksToWipe(await settledDisks(disksNow, { signal }));
  const planned = await Promise.all(disks.map(async (disk) => ({ disk, method: await plan(mode, disk) })));
  const result: WipeResult = { mode, disks: await wipeTogether(planned, context) };
  return { result: { ...result } };
}

async function plan(mode: WipeMode, disk: Disk): Promise<WipeMethod> {
  // Without a mode to wipe by there is no disk in the plan.
  return wipeMethod(mode as Exclude<WipeMode, 'none'>, disk, await eraseAbilities(disk));
}

/** All at once, since each waits for its own device; every one is seen to its end before a failure is told. */
async function wipeTogether(
  planned: readonly { disk: Disk; method: WipeMethod }[],
  { progress, say, signal }: StepContext,
): Promise<WipedDisk[]> {
  const done = new Map<string, number>();
  const totalBytes = planned.reduce((sum, { disk }) => sum + disk.sizeBytes, 0);
  const report = (name: string) => (bytes: number) => {
    done.set(name, bytes);
    progress(
      'wiping',
      [...done.values()].reduce((sum, each) => sum + each, 0),
      totalBytes,
    );
  };
  const ended = await Promise.allSettled(
    planned.map(({ disk, method }) => {
      say(`wiping ${disk.path} by ${method}`);
      return wipeDisk(disk, method, report(disk.name), signal);
    }),
  );
  const failed = ended.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return ended.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
}
