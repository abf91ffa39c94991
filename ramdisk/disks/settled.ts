import { uptime } from 'node:os';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Disk } from './disk.ts';

/** For so long after its start a machine may still be finding disks. */
const bootSeconds = 60;
const quietMs = 1000;
const patienceMs = 20_000;

export interface SettlingOptions {
  clock?: Clock;
  uptimeSeconds?: () => number;
  signal?: AbortSignal;
}

/**
 * The disks once no more of them turn up. A controller goes on finding disks for seconds after its driver was loaded, and no event says that it
 * has found all: one of two disks that is seen first must not pass for the only one. Soon after the machine's start the list
 * must therefore stay the same for a second, and a machine without any disk is given twenty.
 */
export async function settledDisks(
  list: () => Promise<Disk[]>,
  { clock = systemClock, uptimeSeconds = uptime, signal }: SettlingOptions = {},
): Promise<Disk[]> {
  const begun = clock.now();
  let disks = await list();
  for (let since = begun; uptimeSeconds() < bootSeconds; ) {
    const now = clock.now();
    const enough = disks.length > 0 ? now - since >= quietMs : now - begun >= patienceMs;
    if (enough) break;
    await clock.sleep(quietMs / 4, signal);
    const found = await list();
    if (namesOf(found) !== namesOf(disks)) since = clock.now();
    disks = found;
  }
  return disks;
}

function namesOf(disks: readonly Disk[]): string {
  return disks.map(({ name, sizeBytes, otherPaths }) => [name, sizeBytes, ...otherPaths].join()).join(' ');
}
