import { RailheadError, toWireError } from '#contract/errors.ts';
import type { CachedImage } from '#contract/images.ts';
import type { Damage } from './heldIndex.ts';

/** A damaged image that is wanted is pulled anew after so many milliseconds: until then whoever counts on it is told. */
export const repullAfterMs = 5000;

export function damageError({ digest, ref, reason, found }: Damage): RailheadError {
  const what =
    reason === 'bit-rot'
      ? `its bytes on the disk changed (their sha256 is ${found})`
      : `the disk does not give its bytes back (${found})`;
  return new RailheadError(
    'DRIVER_ERROR',
    `the site's copy of ${ref} is damaged: ${what}; it was put into quarantine, look at the disk`,
    { reason, digest, found },
  );
}

export function damageRow(damage: Damage, isWanted: boolean): CachedImage {
  const { digest, ref, at } = damage;
  const next = isWanted ? { nextTryAt: new Date(at + repullAfterMs).toISOString() } : {};
  return { digest, ref, state: 'failed', error: toWireError(damageError(damage)), ...next };
}
