import type { CachedImage } from '#contract/images.ts';
import { type Answer, errorAnswer, notFound } from './answer.ts';
import type { ImageReader, OpenImage } from './imageReader.ts';
import { rangeAnswer, type Validators } from './rangeAnswer.ts';
import type { BootRequest } from './request.ts';

const type = 'application/octet-stream';

type SectionName = 'linux' | 'initrd';

export const imagePattern = /^\/images\/sha256\/([0-9a-f]{64})(?:\/sections\/(linux|initrd))?$/;

/** How long a client shall wait for a pull that runs. */
const retryAfterSeconds = 2;

/** `/images/sha256/<digest>`, and in it `/sections/linux` and `/sections/initrd` of a unified kernel image. */
export async function image(request: BootRequest, images: ImageReader): Promise<Answer | undefined> {
  const match = imagePattern.exec(request.path);
  if (match === null) return undefined;
  const [, digest = '', section] = match;
  const refusal = images.refusal?.(digest);
  if (refusal !== undefined) return errorAnswer(refusal);
  return opened(request, digest, images, (image) =>
    contentAnswer(request, digest, image, images, section as SectionName | undefined),
  );
}

/** The whole of an image for one who was let in to it: nobody on the way may keep it. */
export async function privateImage(
  request: BootRequest,
  digest: string,
  images: ImageReader,
): Promise<Answer> {
  return opened(request, digest, images, (image) => {
    const whole = { start: 0, endExclusive: image.sizeBytes };
    return rangeAnswer(request, image, whole, { type, validators: wholeValidators(digest), isPrivate: true });
  });
}

async function opened(
  request: BootRequest,
  digest: string,
  images: ImageReader,
  answerOf: (image: OpenImage) => Answer | Promise<Answer>,
): Promise<Answer> {
  const image = await images.open(digest);
  if (image === undefined) return unavailable(request.path, images.state(digest));
  try {
    return { ...(await answerOf(image)), release: () => image.close() };
  } catch (error) {
    await image.close();
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
    return rangeAnswer(request, image, whole, { type, validators: wholeValidators(digest) });
  }
  const found = await images.section(digest, section);
  if (found === undefined) return notFound(request.path);
  const part = { start: found.offset, endExclusive: found.offset + found.sizeBytes };
  return rangeAnswer(request, image, part, { type, validators: { etag: `"sha256:${digest}/${section}"` } });
}

/** The digest of the whole artifact is its strong validator; `Repr-Digest` says it in RFC 9530's form. */
function wholeValidators(digest: string): Validators {
  const base64 = Buffer.from(digest, 'hex').toString('base64');
  return { etag: `"sha256:${digest}"`, 'repr-digest': `sha-256=:${base64}:` };
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
