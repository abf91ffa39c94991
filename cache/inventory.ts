import { createHash } from 'node:crypto';
import { known } from '#base/known.ts';
import { toWireError } from '#contract/errors.ts';
import type { CachedImage } from '#contract/images.ts';
import type { HeldRecord } from './heldIndex.ts';
import type { PullState } from './puller.ts';
import { secondsLeft } from './rate.ts';
import type { FileStamp } from './stamp.ts';

export function readyRow(
  { digest, ref, sizeBytes }: HeldRecord,
  state: 'ready' | 'evicting' = 'ready',
): CachedImage {
  return { digest, ref, state, sizeBytes };
}

/** A file that is hashed before it counts comes from the disk as another comes from its source. */
export function unprovenRow(
  digest: string,
  ref: string,
  { sizeBytes }: FileStamp,
  hashedBytes = 0,
): CachedImage {
  return { digest, ref, state: 'pulling', sizeBytes, receivedBytes: hashedBytes };
}

export function pullRow({ image, receivedBytes, bytesPerSecond, error, nextTryAt }: PullState): CachedImage {
  const { digest, ref, sizeBytes } = image;
  const size = sizeBytes === undefined ? {} : { sizeBytes };
  if (error === undefined) {
    const etaSeconds = secondsLeft(receivedBytes, sizeBytes, bytesPerSecond);
    return {
      digest,
      ref,
      state: 'pulling',
      ...size,
      receivedBytes,
      ...known({ bytesPerSecond, etaSeconds }),
    };
  }
  const next = nextTryAt === undefined ? {} : { nextTryAt: new Date(nextTryAt).toISOString() };
  return { digest, ref, state: 'failed', ...size, error: toWireError(error), ...next };
}

/**
 * The rows in a fixed order, and a weak entity tag over them. Progress does not change the tag: it would never
 * rest during a pull.
 */
export function inventoryOf(rows: readonly CachedImage[]): { etag: string; images: CachedImage[] } {
  const images = rows.toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
  const settled = images.map(({ receivedBytes: _, bytesPerSecond: _rate, etaSeconds: _eta, ...row }) => row);
  const hash = createHash('sha256').update(JSON.stringify(settled)).digest('hex');
  return { etag: `W/"${hash.slice(0, 32)}"`, images };
}
