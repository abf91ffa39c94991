/** A Content-Range of bytes (RFC 9110 section 14.4); `total` is absent when the server does not know it. */
export interface ContentRange {
  first: number;
  last: number;
  total?: number;
}

/** Parses `bytes 0-99/200` or `bytes 0-99/*`; undefined for anything else, a range that contradicts itself included. */
export function parseContentRange(text: string | undefined): ContentRange | undefined {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(text?.trim() ?? '');
  if (match === null) return undefined;
  const [first, last] = [Number(match[1]), Number(match[2])];
  const total = match[3] === '*' ? undefined : Number(match[3]);
  if (last < first || (total !== undefined && last >= total)) return undefined;
  return total === undefined ? { first, last } : { first, last, total };
}

/** Milliseconds that a Retry-After asks for (RFC 9110 section 10.2.3: seconds or a date), within 100 ms and 30 s. */
export function retryAfterMs(text: string | undefined, now: number, otherwise = 2000): number {
  const asked = /^\d{1,9}$/.test(text ?? '') ? Number(text) * 1000 : Date.parse(text ?? '') - now;
  return Math.min(30_000, Math.max(100, Number.isNaN(asked) ? otherwise : asked));
}
