/** How long to wait between tries of the same thing. */
export interface BackoffLimits {
  firstMs: number;
  maxMs: number;
}

/**
 * Milliseconds to wait after `failures` failures in a row: doubling from `firstMs` up to `maxMs`, of which a random
 * half to whole is taken, so that many machines that lost the same peer do not come back in step.
 */
export function backoffMs(
  failures: number,
  limits: BackoffLimits,
  random: () => number = Math.random,
): number {
  const whole = Math.min(limits.maxMs, limits.firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return Math.round(whole * (0.5 + random() / 2));
}
