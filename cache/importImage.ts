import { RailheadError } from '#contract/errors.ts';
import type { CacheImage } from '#contract/images.ts';
import { diskFault, isFullDisk } from './diskFaults.ts';
import { digestMismatch, noRoom, sizeMismatch } from './faults.ts';
import type { CacheParts } from './rows.ts';
import { checkSignature } from './verify.ts';
import { withdrawnError } from './withdrawn.ts';
import type { PartialArtifact } from './write.ts';

export interface ImportOptions {
  /** What the bytes must be; without it they may be any image that the site knows. */
  digest?: string;
  /** The row of the catalog that the centre once sent for a digest. */
  known: (digest: string) => CacheImage | undefined;
  onReceived?: (bytes: number) => void;
}

/** The disk is asked for room for so many bytes at a time, when it is not known how many come. */
const roomStepBytes = 64 * 1024 * 1024;

/**
 * Takes an image from elsewhere than its sources, such as a medium that an operator brought. It comes in only when its sha256 is that of a
 * catalog row that the centre sent to this site, which is not withdrawn, whose signature still holds and whose size is the same.
 * @throws RailheadError NOT_FOUND (`unknown-image`), DRIVER_ERROR (`digest-mismatch`, `size-mismatch`, `no-space`, `cache-disk`),
 *   INVALID_STATE (`withdrawn`, `signature`, `unsigned`)
 */
export async function importImage(
  bytes: AsyncIterable<Buffer>,
  parts: CacheParts,
  options: ImportOptions,
): Promise<string> {
  const expected = options.digest === undefined ? undefined : vouchedFor(options.digest, parts, options);
  const partial = await parts.store.newPartial();
  try {
    await receive(bytes, partial, { ...parts, sizeBytes: expected?.sizeBytes }, options);
    const found = partial.digest();
    if (options.digest !== undefined && found !== options.digest) throw digestMismatch(options.digest, found);
    const image = vouchedFor(found, parts, options);
    if (image.sizeBytes !== undefined && image.sizeBytes !== partial.sizeBytes)
      throw sizeMismatch(image.sizeBytes, partial.sizeBytes);
    await parts.store.commit(partial, image);
    await parts.puller.arrived(found);
    // While it was flushed the centre may have withdrawn it.
    if (!parts.wishes.isWithdrawn(found)) return found;
    await parts.store.expel(found);
    throw withdrawnError(found);
  } catch (error) {
    if (isFullDisk(error)) throw noRoom(expected?.sizeBytes, 'disk');
    throw diskFault(error) ?? error;
  } finally {
    parts.store.releaseRoom(partial);
    await partial.discard();
  }
}

interface Receiving extends CacheParts {
  sizeBytes: number | undefined;
}

async function receive(
  bytes: AsyncIterable<Buffer>,
  partial: PartialArtifact,
  { store, wishes, sizeBytes }: Receiving,
  { onReceived }: ImportOptions,
): Promise<void> {
  let promised = 0;
  for await (const chunk of bytes) {
    const needed = partial.sizeBytes + chunk.length;
    if (sizeBytes !== undefined && needed > sizeBytes) throw sizeMismatch(sizeBytes, needed);
    if (needed > promised) {
      promised = sizeBytes ?? needed + roomStepBytes;
      await store.makeRoom(partial, promised, wishes.isSpared);
    }
    await partial.append(chunk);
    onReceived?.(partial.sizeBytes);
  }
}

/** The catalog's row of a digest, checked as a pull checks it. */
function vouchedFor(digest: string, { wishes }: CacheParts, { known }: ImportOptions): CacheImage {
  if (wishes.isWithdrawn(digest)) throw withdrawnError(digest);
  const image = wishes.wanted().get(digest) ?? known(digest);
  if (image === undefined)
    throw new RailheadError(
      'NOT_FOUND',
      `no image of the catalog that this site was told of has the sha256 ${digest}: register it, name it in a pool's policy, and let the site reach the centre once`,
      { reason: 'unknown-image', digest },
    );
  checkSignature(image);
  return image;
}
