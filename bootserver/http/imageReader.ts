import type { Writable } from 'node:stream';
import type { WireError } from '#contract/errors.ts';
import type { CachedImage } from '#contract/images.ts';

/** An open artifact whose digest holds; it stays readable until `close`. */
export interface OpenImage {
  readonly sizeBytes: number;
  /** Writes the bytes from `start` up to, not including, `endExclusive`, in constant memory; does not end `target`. */
  sendTo(target: Writable, start: number, endExclusive: number): Promise<void>;
  close(): Promise<void>;
}

/** Where a unified kernel image keeps its kernel or its initrd, in bytes of the artifact. */
export interface ImageSection {
  offset: number;
  sizeBytes: number;
}

/** Which artifacts can be served? The site's image cache answers; whatever it opens has been hashed before. */
export interface ImageReader {
  /** Why this door does not hand out an image, whether it is here or not; undefined when it does. */
  refusal?(digest: string): WireError | undefined;
  /** The image of the medium whose URL has this token. */
  granted?(token: string): string | undefined;
  /** Undefined when the artifact is not ready; `state` then says why. */
  open(digest: string): Promise<OpenImage | undefined>;
  section(digest: string, name: 'linux' | 'initrd'): Promise<ImageSection | undefined>;
  state(digest: string): CachedImage | undefined;
}
