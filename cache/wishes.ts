import { toWireError } from '#contract/errors.ts';
import type { CachedImage, CacheImage } from '#contract/images.ts';
import { checkSignature } from './verify.ts';

/** What is to be here and what must not be: the last that was stated. Decides, and touches nothing. */
export class Wishes {
  #wanted: ReadonlyMap<string, CacheImage> = new Map();
  #refused: ReadonlyMap<string, CachedImage> = new Map();
  #withdrawn: ReadonlySet<string> = new Set();
  #pinned: readonly string[] = [];

  /** States it all anew. Of what is withdrawn nothing is wanted, and nothing that nobody vouches for. */
  state(images: readonly CacheImage[], withdrawn: readonly string[], pinned: readonly string[]): void {
    this.#pinned = pinned;
    this.#withdrawn = new Set(withdrawn);
    const usable = images.filter(({ digest }) => !this.#withdrawn.has(digest));
    this.#refused = new Map(usable.flatMap((image) => refusal(image)).map((row) => [row.digest, row]));
    const vouched = usable.filter(({ digest }) => !this.#refused.has(digest));
    this.#wanted = new Map(vouched.map((image) => [image.digest, image]));
  }

  /** What is to be pulled where it is not here. */
  wanted(): ReadonlyMap<string, CacheImage> {
    return this.#wanted;
  }

  /** The row of an image that may not come in. */
  refused(digest: string): CachedImage | undefined {
    return this.#refused.get(digest);
  }

  refusedDigests(): Iterable<string> {
    return this.#refused.keys();
  }

  isWithdrawn(digest: string): boolean {
    return this.#withdrawn.has(digest);
  }

  /** What is never evicted to make room. */
  spared(): Set<string> {
    return new Set([...this.#wanted.keys(), ...this.#pinned]);
  }
}

/** The row of an image that may not come in because nobody vouches for it. */
function refusal(image: CacheImage): CachedImage[] {
  try {
    checkSignature(image);
    return [];
  } catch (error) {
    return [{ digest: image.digest, ref: image.ref, state: 'failed', error: toWireError(error) }];
  }
}
