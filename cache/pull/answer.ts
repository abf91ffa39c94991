/** What of a source's answer decides how its body is taken. */
export interface AnswerFacts {
  status: number;
  contentLength?: number;
  contentRange?: string;
  etag?: string;
  lastModified?: string;
}

/** What we have when the answer comes. */
export interface Asked {
  /** Bytes that are here; a range from this one was asked for when it is above 0. */
  offset: number;
  /** From the catalog or an earlier answer. */
  totalBytes?: number;
  validator?: string;
}

/**
 * `take`: the body starts at byte `at` (0 throws away what is here). `whole`: nothing is missing, the digest
 * decides. `again`: the answer is of no use for a resume, ask for all of it. `refuse`: no image comes from
 * this.
 */
export type Decision =
  | { kind: 'take'; at: number; totalBytes?: number }
  | { kind: 'whole' }
  | { kind: 'again' }
  | { kind: 'refuse'; cause: string };

/**
 * How to take a source's answer (RFC 9110, sections 14 and 15.3.7). Ranges are believed only when they say
 * exactly what was asked.
 */
export function decideAnswer(answer: AnswerFacts, asked: Asked): Decision {
  if (answer.status === 200) return takeFrom(0, answer.contentLength);
  if (answer.status === 206) return decidePartial(answer, asked);
  if (answer.status === 416 && asked.offset > 0)
    return asked.offset === asked.totalBytes ? { kind: 'whole' } : { kind: 'again' };
  return { kind: 'refuse', cause: `HTTP ${answer.status}` };
}

function decidePartial(answer: AnswerFacts, asked: Asked): Decision {
  const range = parseContentRange(answer.contentRange);
  const useless: Decision =
    asked.offset > 0 ? { kind: 'again' } : { kind: 'refuse', cause: 'HTTP 206 unasked' };
  if (range === undefined || range.start !== asked.offset) return useless;
  if (asked.totalBytes !== undefined && range.total !== asked.totalBytes) return useless;
  const validator = validatorOf(answer);
  if (asked.offset > 0 && validator !== undefined && validator !== asked.validator) return useless;
  return takeFrom(range.start, range.total);
}

function takeFrom(at: number, totalBytes: number | undefined): Decision {
  return totalBytes === undefined ? { kind: 'take', at } : { kind: 'take', at, totalBytes };
}

/**
 * `bytes 5-9/10`; undefined for anything else, an unknown total included: a resume has nothing to compare it
 * with.
 */
export function parseContentRange(
  text: string | undefined,
): { start: number; end: number; total: number } | undefined {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(text ?? '');
  if (match === null) return undefined;
  const [start = 0, end = 0, total = 0] = match.slice(1).map(Number);
  return start <= end && end < total ? { start, end, total } : undefined;
}

/** What `If-Range` may carry: a strong entity tag, else the date (RFC 9110, 13.1.5). */
export function validatorOf(answer: AnswerFacts): string | undefined {
  if (answer.etag?.startsWith('"') && answer.etag !== '""') return answer.etag;
  return answer.lastModified;
}
