/** The written form of a duration in profiles and configuration. */
export const durationPattern = '^[1-9]\\d*(ms|s|m|h)$';

const unitMilliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Milliseconds of a duration such as `30m`. The text must match `durationPattern`, which schemas check. */
export function durationMs(text: string): number {
  const match = /^([1-9]\d*)(ms|s|m|h)$/.exec(text);
  if (match === null) throw new RangeError(`not a duration: ${text}; write a whole number and ms, s, m or h`);
  return Number(match[1]) * unitMilliseconds[match[2] as keyof typeof unitMilliseconds];
}
