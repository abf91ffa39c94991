import type { CachedImage } from '#contract/images.ts';
import { type Answer, errorAnswer, notFound } from './answer.ts';
import type { ImageReader, OpenImage } from './imageReader.ts';
import { type ByteRange, parseRange } from './range.ts';
import type { BootRequest } from './request.ts';

type SectionName = 'linux' | 'initrd';

export const imagePattern = /^\/images\/sha256\/([0-9a-f]{64})(?:\/sections\/(linux|initrd))?$/;

/** How long a client shall wait for a pull that runs. */
const retryAfterSeconds = 2;

/** `/images/sha256/<digest>`, and in it `/sections/linux` and `/sections/initrd` of a unified kernel image. */
export async function image(request: BootRequest, images: ImageReader): Promise<Answer | undefined> {
  const match = imagePattern.exec(request.path);
  if (match === null) return undefined;
  const [, digest = '', section] = match;
  const opened = await images.open(digest);
  if (opened === undefined) return unavailable(request.path, images.state(digest));
  try {
    const answer = await contentAnswer(request, digest, opened, images, section as SectionName | undefined);
    return { ...answer, release: () => opened.close() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function contentAnswer(
  request: BootRequest,
  digest: string,
  image: OpenImage,
  images: ImageReader,
  section: SectionName | undefined,
): Promise<Answer> {
  if (section === undefined) {
    const whole = { start: 0, endExclusive: image.sizeBytes };
    return partAnswer(request, image, whole, wholeHeaders(digest));
  }
  const found = await images.section(digest, section);
  if (found === undefined) return notFound(request.path);
  const part = { start: found.offset, endExclusive: found.offset + found.sizeBytes };
  return partAnswer(request, image, part, { etag: `"sha256:${digest}/${section}"` });
}

/** The digest of the whole artifact is its strong validator; `Repr-Digest` says it in RFC 9530's form. */
function wholeHeaders(digest: string): { etag: string; 'repr-digest': string } {
  const base64 = Buffer.from(digest, 'hex').toString('base64');
  return { etag: `"sha256:${digest}"`, 'repr-digest': `sha-256=:${base64}:` };
}

function partAnswer(
  request: BootRequest,
  image: OpenImage,
  part: ByteRange,
  validators: { etag: string; 'repr-digest'?: string },
): Answer {
  const size = part.endExclusive - part.start;
  const headers = {
    ...validators,
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    // The path holds the digest, so the bytes can never be others.
    'cache-control': 'public, max-age=31536000, immutable',
  };
  if (namesTag(request.ifNoneMatch, validators.etag)) return empty(304, headers);
  const range = parseRange(rangeToHonour(request, validators.etag), size);
  if (range === 'unsatisfiable') return empty(416, { ...headers, 'content-range': `bytes */${size}` });
  if (range === 'whole') return stream(200, headers, image, part);
  const { start, endExclusive } = range;
  const contentRange = `bytes ${start}-${endExclusive - 1}/${size}`;
  return stream(206, { ...headers, 'content-range': contentRange }, image, {
    start: part.start + start,
    endExclusive: part.start + endExclusive,
  });
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

/** Why an image cannot be had: 404 sends the ramdisk to the source, 503 lets it wait, 502 ends the deploy before the disk is touched. */
function unavailable(path: string, state: CachedImage | undefined): Answer {
  if (state === undefined || state.state === 'evicting') return notFound(path);
  if (state.state === 'failed' && state.error !== undefined) return errorAnswer(asDriverError(state.error));
  return errorAnswer(
    {
      code: 'UNAVAILABLE',
      message: 'the site is still fetching this image; ask again',
      details: { reason: 'pulling', receivedBytes: state.receivedBytes, sizeBytes: state.sizeBytes },
    },
    { 'retry-after': String(retryAfterSeconds) },
  );
}

/** The pull is the site's act: whatever went wrong in it is a failure of what is behind the site, never of this request. */
function asDriverError(error: NonNullable<CachedImage['error']>): NonNullable<CachedImage['error']> {
  return { ...error, code: 'DRIVER_ERROR' };
}
