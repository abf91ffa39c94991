/**
 * The written form of a duration in profiles and configuration: a whole number and `ms`, `s`, `m` or `h`. The number of digits keeps it
 * below 32 years, so that a time that far from now is a date whose text sorts by time.
 */
export const durationPattern = '^(?:[1-9]\\d{0,11}ms|[1-9]\\d{0,8}s|[1-9]\\d{0,6}m|[1-9]\\d{0,4}h)$';

const form = new RegExp(durationPattern);
const unitMilliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Milliseconds of a duration such as `30m`. The text must match `durationPattern`, which schemas check. */
export function durationMs(text: string): number {
  if (!form.test(text))
    throw new RangeError(`not a duration: ${text}; write a whole number and ms, s, m or h, at most 99999h`);
  const unit = text.replace(/^\d+/, '') as keyof typeof unitMilliseconds;
  return Number.parseInt(text, 10) * unitMilliseconds[unit];
}
