import { toWireError } from '#contract/errors.ts';
import { type CachedImage, type CacheImage, imageSigningInput } from '#contract/images.ts';
import { checkSignature } from './verify.ts';

/** Whether somebody vouches for an image. A verdict is kept as long as the image is asked about: ten thousand checks hold up a site for seconds. */
export class CheckedSignatures {
  #verdicts = new Map<string, CachedImage | undefined>();
  #current = new Map<string, CachedImage | undefined>();

  /** The row of an image that may not come in because nobody vouches for it. */
  refusal(image: CacheImage): CachedImage[] {
    const { kind, digest, signature = '', signerKey = '' } = image;
    const key = [kind, signature, signerKey, imageSigningInput({ ...image, sha256: digest })].join('\n');
    const verdict = this.#verdicts.has(key) ? this.#verdicts.get(key) : refused(image);
    this.#current.set(key, verdict);
    return verdict === undefined ? [] : [verdict];
  }

  /** Forgets what was not asked about since the last call. */
  forgetOthers(): void {
    this.#verdicts = this.#current;
    this.#current = new Map();
  }
}

function refused(image: CacheImage): CachedImage | undefined {
  try {
    checkSignature(image);
    return undefined;
  } catch (error) {
    return { digest: image.digest, ref: image.ref, state: 'failed', error: toWireError(error) };
  }
}
