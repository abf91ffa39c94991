/** No BMC may make us wait longer than this between two tries. */
export const retryAfterCapMs = 60_000;
/** Nor ask it in a tight loop: `0` is no leave to, and a date may be gone by a clock that is wrong. */
export const retryAfterLeastMs = 1000;

/**
 * What `Retry-After` asks for in milliseconds (RFC 9110, 10.2.3: seconds or a date), within a second and the cap;
 * undefined when it asks for nothing sensible.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const asked = /^\d+$/.test(header) ? Number(header) * 1000 : dateMs(header) - nowMs;
  return Number.isNaN(asked) ? undefined : Math.min(retryAfterCapMs, Math.max(retryAfterLeastMs, asked));
}

/** `Date.parse` takes much for a date that is none, such as `-1`. */
function dateMs(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} /.test(text) ? Date.parse(text) : Number.NaN;
}
