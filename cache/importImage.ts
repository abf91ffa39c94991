import { RailheadError } from '#contract/errors.ts';
import type { CacheImage } from '#contract/images.ts';
import { diskFault, isFullDisk } from './diskFaults.ts';
import { digestMismatch, noRoom, sizeMismatch } from './faults.ts';
import type { CacheParts } from './rows.ts';
import { checkSignature } from './verify.ts';
import { withdrawnError } from './withdrawn.ts';
import type { PartialArtifact } from './write.ts';

export interface ImportOptions {
  /** What the bytes must be: nothing is moved aside for bytes that nobody vouches for. */
  digest: string;
  /** How many they are. */
  sizeBytes: number;
  /** The row of the catalog that the centre once sent for a digest. */
  known: (digest: string) => CacheImage | undefined;
}

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
  const { digest, sizeBytes } = options;
  const expectedBytes = vouchedFor(digest, parts, options).sizeBytes ?? sizeBytes;
  if (expectedBytes !== sizeBytes) throw sizeMismatch(expectedBytes, sizeBytes);
  const partial = await parts.store.newPartial();
  try {
    await parts.store.makeRoom(partial, sizeBytes, parts.wishes.isSpared);
    await receive(bytes, partial, sizeBytes);
    if (partial.digest() !== digest) throw digestMismatch(digest, partial.digest());
    const image = vouchedFor(digest, parts, options);
    await parts.store.commit(partial, image);
    await parts.puller.arrived(digest);
    // While it was flushed the centre may have withdrawn it.
    if (!parts.wishes.isWithdrawn(digest)) return digest;
    await parts.store.expel(digest);
    throw withdrawnError(digest);
  } catch (error) {
    if (isFullDisk(error)) throw noRoom(sizeBytes, 'disk');
    throw diskFault(error) ?? error;
  } finally {
    parts.store.releaseRoom(partial);
    await partial.discard();
  }
}

async function receive(
  bytes: AsyncIterable<Buffer>,
  partial: PartialArtifact,
  sizeBytes: number,
): Promise<void> {
  for await (const chunk of bytes) {
    const received = partial.sizeBytes + chunk.length;
    if (received > sizeBytes) throw sizeMismatch(sizeBytes, received);
    await partial.append(chunk);
  }
  if (partial.sizeBytes !== sizeBytes) throw sizeMismatch(sizeBytes, partial.sizeBytes);
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
