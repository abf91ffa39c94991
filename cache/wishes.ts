import type { CachedImage, CacheImage } from '#contract/images.ts';
import { CheckedSignatures } from './checkedSignatures.ts';

/** An image that an operator pinned at the site; `image` when its row of the catalog is known here. */
export interface LocalPin {
  digest: string;
  image?: CacheImage;
}

/** What is to be here and what must not be: the last that was stated. Decides, and touches nothing. */
export class Wishes {
  #stated: readonly CacheImage[] = [];
  #desired: ReadonlySet<string> = new Set();
  #asked = new Map<string, CacheImage>();
  #local: readonly LocalPin[] = [];
  #localDigests: ReadonlySet<string> = new Set();
  readonly #signatures = new CheckedSignatures();
  #withdrawn: ReadonlySet<string> = new Set();
  #pinned: ReadonlySet<string> = new Set();
  #wanted: ReadonlyMap<string, CacheImage> = new Map();
  #refused: ReadonlyMap<string, CachedImage> = new Map();

  /** States anew what the centre says. Of what is withdrawn nothing is wanted, and nothing that nobody vouches for. */
  state(images: readonly CacheImage[], withdrawn: readonly string[], pinned: readonly string[]): void {
    this.#stated = images;
    this.#desired = new Set(images.map(({ digest }) => digest));
    this.#withdrawn = new Set(withdrawn);
    this.#pinned = new Set(pinned);
    this.#decide();
  }

  /** States anew what operators pinned here. */
  keep(pins: readonly LocalPin[]): void {
    this.#local = pins;
    this.#localDigests = new Set(pins.map(({ digest }) => digest));
    this.#decide();
  }

  /** Wants an image until it is here: somebody asked for it once. */
  ask(image: CacheImage): void {
    this.#asked.set(image.digest, image);
    this.#decide();
  }

  /** What was asked for once is here, or not wanted any more; whether it was asked for. */
  answered(digest: string): boolean {
    const wasAsked = this.#asked.delete(digest);
    if (wasAsked) this.#decide();
    return wasAsked;
  }

  /** What is to be pulled where it is not here. */
  wanted(): ReadonlyMap<string, CacheImage> {
    return this.#wanted;
  }

  /** Whether the centre wants it here, not just somebody at the site. */
  isDesired(digest: string): boolean {
    return this.#desired.has(digest);
  }

  /** Whether a deploy or an operator has pinned it. */
  isPinned(digest: string): boolean {
    return this.#pinned.has(digest) || this.isPinnedHere(digest);
  }

  isPinnedHere(digest: string): boolean {
    return this.#localDigests.has(digest);
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
  readonly isSpared = (digest: string): boolean => this.#wanted.has(digest) || this.isPinned(digest);

  #decide(): void {
    const here = [...this.#asked.values(), ...this.#local.flatMap(({ image }) => image ?? [])];
    // What the centre says of a digest counts more than what was known of it here.
    const usable = [...here, ...this.#stated].filter(({ digest }) => !this.#withdrawn.has(digest));
    this.#refused = new Map(
      usable.flatMap((image) => this.#signatures.refusal(image)).map((row) => [row.digest, row]),
    );
    this.#signatures.forgetOthers();
    const vouched = usable.filter(({ digest }) => !this.#refused.has(digest));
    this.#wanted = new Map(vouched.map((image) => [image.digest, image]));
  }
}
