import type { Answer } from './answer.ts';
import type { OpenImage } from './imageReader.ts';
import { byteRanges } from './multipart.ts';
import { type ByteRange, parseRanges } from './range.ts';
import type { BootRequest } from './request.ts';

export interface Validators {
  /** Strong, with its quotes. */
  etag: string;
  'repr-digest'?: string;
}

/** How a representation is described. */
export interface Described {
  validators: Validators;
  type: string;
  /** Who may keep it besides the client: nobody, when it is private. */
  isPrivate?: boolean;
}

/** `part` of an image as a whole, or what of it the request's conditions and ranges ask for (RFC 9110 §13, §14). */
export function rangeAnswer(
  request: BootRequest,
  image: OpenImage,
  part: ByteRange,
  { validators, type, isPrivate = false }: Described,
): Answer {
  const size = part.endExclusive - part.start;
  const headers = {
    ...validators,
    'accept-ranges': 'bytes',
    // The path holds the digest, so the bytes can never be others.
    'cache-control': isPrivate ? 'private, no-store' : 'public, max-age=31536000, immutable',
  };
  const typed = { ...headers, 'content-type': type };
  if (namesTag(request.ifNoneMatch, validators.etag)) return empty(304, typed);
  const ranges = parseRanges(rangeToHonour(request, validators.etag), size);
  if (ranges === 'unsatisfiable') return empty(416, { ...typed, 'content-range': `bytes */${size}` });
  if (ranges === 'whole') return stream(200, typed, image, part);
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1) {
    const contentRange = `bytes ${only.start}-${only.endExclusive - 1}/${size}`;
    return stream(206, { ...typed, 'content-range': contentRange }, image, within(part, only));
  }
  const body = byteRanges(ranges, size, type, (target, range) => {
    const { start, endExclusive } = within(part, range);
    return image.sendTo(target, start, endExclusive);
  });
  const { contentType, length, writeTo } = body;
  return { status: 206, headers: { ...headers, 'content-type': contentType }, length, body: writeTo };
}

function within(part: ByteRange, { start, endExclusive }: ByteRange): ByteRange {
  return { start: part.start + start, endExclusive: part.start + endExclusive };
}

/** A range with an If-Range of other bytes asks for the whole (RFC 9110 §13.1.5). */
function rangeToHonour({ range, ifRange }: BootRequest, etag: string): string | undefined {
  return ifRange === undefined || ifRange === etag ? range : undefined;
}

function namesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}

function stream(status: number, headers: Record<string, string>, image: OpenImage, part: ByteRange): Answer {
  const { start, endExclusive } = part;
  return {
    status,
    headers,
    length: endExclusive - start,
    body: (target) => image.sendTo(target, start, endExclusive),
  };
}

function empty(status: number, headers: Record<string, string>): Answer {
  return { status, headers, length: 0, body: Buffer.alloc(0) };
}
