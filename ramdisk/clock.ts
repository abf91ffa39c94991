import { run } from '#base/command.ts';
import { setSystemTime } from '#base/libc.ts';
import type { Say } from './console.ts';

/** Certificates and expiries are judged by the minute; a clock that is closer than this is left alone. */
const toleranceMs = 5000;

/** Sets a machine's clocks to a time in milliseconds since the epoch. */
export type SetClocks = (time: number, say: Say) => Promise<void>;

/**
 * Sets this machine's clocks when they differ from the site's by more than a few seconds, and says so. A machine whose clock stood still in
 * a store room, or runs in local time, would refuse the site's certificate and every operation.
 * @throws what `askTime` throws, or SystemCallFailed when the kernel refuses
 */
export async function keepTime(
  askTime: () => Promise<number>,
  say: Say,
  setClocks: SetClocks = setMachineClocks,
): Promise<void> {
  const time = await askTime();
  const off = clockError(time, Date.now());
  if (off === undefined) return;
  say(`the clock is ${off} the site's: it is set to ${new Date(time).toISOString()}`);
  await setClocks(time, say);
}

/** In words how far a clock is from the right time; undefined when it is near enough. */
export function clockError(right: number, shown: number): string | undefined {
  const seconds = Math.round(Math.abs(shown - right) / 1000);
  if (seconds * 1000 <= toleranceMs) return undefined;
  return `${seconds} s ${shown < right ? 'behind' : 'ahead of'}`;
}

/** The system's clock, and the battery's, in UTC: the OS that is written next reads that one at its start, and joins by TLS. */
async function setMachineClocks(time: number, say: Say): Promise<void> {
  setSystemTime(time);
  await run('hwclock', ['-w', '-u']).catch((error: Error) => {
    say(`the battery's clock was not set: ${error.message}`);
  });
}
