import { RailheadError, toWireError } from '#contract/errors.ts';
import type { CachedImage } from '#contract/images.ts';

/** Why nobody gets these bytes any more. */
export function withdrawnError(digest: string): RailheadError {
  return new RailheadError('INVALID_STATE', 'the image was withdrawn: deploy another version', {
    reason: 'withdrawn',
    digest,
  });
}

export function withdrawnRow(digest: string, ref: string): CachedImage {
  return { digest, ref, state: 'failed', error: toWireError(withdrawnError(digest)) };
}
