import { RailheadError } from '#contract/errors.ts';

/** Runs the ramdisk agent until the machine restarts. `bcd ramdisk` calls it. */
export async function runRamdisk(): Promise<void> {
  throw new RailheadError('UNSUPPORTED', 'the ramdisk agent is not built yet');
}
