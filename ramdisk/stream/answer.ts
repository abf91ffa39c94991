import { errorStatus, fromWireError, RailheadError, type WireError } from '#contract/errors.ts';
import { parseContentRange, retryAfterMs } from './contentRange.ts';

/** One answer to a request for an artifact's bytes from `offset` on, as far as the decision needs it. */
export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  /** The start of the body of an answer that brings no bytes (status 300 and up). */
  text: string;
}

/** What is known of the artifact when the answer arrives. */
export interface Asked {
  place: 'site' | 'origin';
  url: string;
  offset: number;
  totalBytes: number | undefined;
  etag: string | undefined;
  now: number;
}

/**
 * What to do with an answer: take its body (dropping `skip` bytes that are there already), come back later, ask again (`plain`:
 * without a range), go to the next source, or give up.
 */
export type Verdict =
  | { kind: 'take'; skip: number; totalBytes?: number; etag?: string }
  | { kind: 'complete' }
  | { kind: 'wait'; ms: number; why: string }
  | { kind: 'again'; plain: boolean; why: string }
  | { kind: 'next'; error: RailheadError }
  | { kind: 'fail'; error: RailheadError };

/**
 * Why a site does not have an image that are as good as the image's own: its source would say the same, or nobody may have it. For every other
 * reason (no room, a disk that fails, no way to the source) the machine asks the source itself.
 */
const finalReasons: readonly unknown[] = [
  'digest-mismatch',
  'size-mismatch',
  'truncated',
  'not-in-artifact',
  'withdrawn',
  'signature',
  'unsigned',
];

/** Judges one answer. Pure; never throws. */
export function judge(answer: Answer, asked: Asked): Verdict {
  const { status, headers } = answer;
  if (status === 200 || status === 206) return judgeBytes(answer, asked);
  if (status === 416) return judgeUnsatisfiable(headers, asked);
  const error = errorOf(answer, asked);
  if (status === 502 && asked.place === 'site' && isOurs(answer))
    return { kind: finalReasons.includes(error.details.reason) ? 'fail' : 'next', error };
  if (status === 503 || status === 429)
    return { kind: 'wait', ms: retryAfterMs(headers['retry-after'], asked.now), why: error.message };
  if (status >= 500 || status === 408) return { kind: 'again', plain: false, why: error.message };
  return { kind: 'next', error };
}

/** Bytes are taken only when it is certain where in the artifact they belong. */
function judgeBytes(answer: Answer, asked: Asked): Verdict {
  const { status, headers } = answer;
  if (/^text\/html\b/i.test(headers['content-type'] ?? ''))
    return { kind: 'next', error: sourceError(asked, 'html', 'it answered with an HTML page') };
  const etag = strongEtag(headers.etag);
  if (asked.etag !== undefined && etag !== undefined && etag !== asked.etag)
    return { kind: 'fail', error: sourceError(asked, 'source-changed', 'it changed while it was read') };
  const range = status === 206 ? parseContentRange(headers['content-range']) : wholeOf(headers);
  if (range === undefined) return { kind: 'again', plain: true, why: 'it sent a part without saying which' };
  if (range.first > asked.offset)
    return { kind: 'again', plain: true, why: 'it sent a later part than asked for' };
  const { totalBytes } = asked;
  if (totalBytes !== undefined && range.total !== undefined && range.total !== totalBytes)
    return { kind: 'next', error: sizeMismatch(asked, totalBytes, range.total) };
  return {
    kind: 'take',
    skip: asked.offset - range.first,
    ...(range.total !== undefined && { totalBytes: range.total }),
    ...(etag !== undefined && { etag }),
  };
}

function wholeOf(headers: Answer['headers']): { first: number; total?: number } {
  const length = headers['content-length'] ?? '';
  return /^\d{1,15}$/.test(length) ? { first: 0, total: Number(length) } : { first: 0 };
}

/** 416 for what is there already means that it is whole (RFC 9110 section 15.5.17: `a total without a range`); otherwise the range was at fault. */
function judgeUnsatisfiable(headers: Answer['headers'], asked: Asked): Verdict {
  const total = /^bytes \*\/(\d{1,15})$/.exec(headers['content-range'] ?? '')?.[1];
  if (asked.offset > 0 && Number(total) === asked.offset) return { kind: 'complete' };
  return { kind: 'again', plain: true, why: 'it refused the range asked for' };
}

/** Only a strong validator says that bytes are the same (RFC 9110 section 8.8.1). */
function strongEtag(etag: string | undefined): string | undefined {
  return etag?.startsWith('"') ? etag : undefined;
}

function isOurs(answer: Answer): boolean {
  return wireErrorOf(answer) !== undefined;
}

function wireErrorOf({ text }: Answer): WireError | undefined {
  try {
    const error = (JSON.parse(text) as { error?: WireError } | null)?.error;
    return typeof error?.code === 'string' && error.code in errorStatus && typeof error.message === 'string'
      ? error
      : undefined;
  } catch {
    return undefined;
  }
}

function errorOf(answer: Answer, asked: Asked): RailheadError {
  const ours = asked.place === 'site' ? wireErrorOf(answer) : undefined;
  if (ours !== undefined) return fromWireError(ours);
  return sourceError(asked, 'status', `it answered with status ${answer.status}`, { status: answer.status });
}

export function sizeMismatch(asked: Pick<Asked, 'url'>, expected: number, found: number): RailheadError {
  return sourceError(asked, 'size-mismatch', `it has ${found} bytes, the catalog says ${expected}`, {
    expected,
    found,
  });
}

/** An error of one source. Its query is left out: a presigned one is a secret. */
export function sourceError(
  asked: Pick<Asked, 'url'>,
  reason: string,
  what: string,
  facts: Record<string, unknown> = {},
): RailheadError {
  const source = withoutQuery(asked.url);
  return new RailheadError('DRIVER_ERROR', `the image cannot be read from ${source}: ${what}`, {
    reason,
    source,
    ...facts,
  });
}

export function withoutQuery(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? 'a source that is no URL' : `${parsed.origin}${parsed.pathname}`;
}
