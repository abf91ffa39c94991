import { expect, test } from 'vitest';
import type { Disk } from '#ramdisk/disks/disk.ts';
import { settledDisks } from '#ramdisk/disks/settled.ts';
import { steppingClock } from '../../fakes/clocks.ts';

/** A machine whose disks turn up at these milliseconds after the first look. */
function machine(appearances: Record<string, number>, uptimeAtStart = 10) {
  const clock = steppingClock();
  const list = async () =>
    Object.entries(appearances)
      .filter(([, at]) => at <= clock.now())
      .map(([name]): Disk => ({ name, sizeBytes: 1, otherPaths: [] }) as unknown as Disk);
  const uptimeSeconds = () => uptimeAtStart + clock.now() / 1000;
  return settledDisks(list, { clock, uptimeSeconds }).then((disks) => ({
    names: disks.map(({ name }) => name),
    afterMs: clock.now(),
  }));
}

test('a list that stays the same for a second is believed', async () => {
  expect(await machine({ sda: 0, sdb: 0 })).toEqual({ names: ['sda', 'sdb'], afterMs: 1000 });
});

test('a second disk that turns up late is waited for', async () => {
  expect(await machine({ sda: 0, sdb: 700 })).toEqual({ names: ['sda', 'sdb'], afterMs: 1750 });
});

test('a machine without a disk is given time to find one', async () => {
  expect(await machine({ sda: 12_000 })).toEqual({ names: ['sda'], afterMs: 13_000 });
  expect(await machine({})).toEqual({ names: [], afterMs: 20_000 });
});

test('a machine that has been up for long is believed at once', async () => {
  expect(await machine({ sda: 0, sdb: 700 }, 100)).toEqual({ names: ['sda'], afterMs: 0 });
});
