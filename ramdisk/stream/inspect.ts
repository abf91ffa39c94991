import { RailheadError } from '#contract/errors.ts';
import type { DeployImage } from '#contract/operations.ts';
import { bytesNeeded, type GptHeader, readGpt } from '../gpt.ts';
import { edgeBytes } from './writer.ts';

/** What an image's first MiB tells before anything is written. */
export interface ImageFacts {
  gpt: GptHeader | undefined;
  /** A disk must have at least so many bytes. */
  neededBytes: number;
}

type Described = Pick<DeployImage, 'format' | 'compression' | 'sizeBytes'>;

/**
 * Checks the decompressed start of an image against what the catalog says of it.
 * @throws RailheadError DRIVER_ERROR (`reason` format-mismatch, empty)
 */
export function inspectHead(head: Buffer, image: Described, artifactBytes: number | undefined): ImageFacts {
  if (head.length === 0) throw mismatch('empty', 'it is empty');
  const found = foreignFormat(head);
  if (found !== undefined)
    throw mismatch('format-mismatch', `it is declared ${image.format}, and is ${found}`);
  const gpt = readGpt(head);
  const plainBytes = image.compression === 'none' ? (artifactBytes ?? image.sizeBytes ?? 0) : 0;
  const neededBytes = Math.max(2 * edgeBytes, plainBytes, gpt === undefined ? 0 : bytesNeeded(head, gpt));
  return { gpt, neededBytes };
}

/** What is certainly no raw disk. A raw image that starts as qcow2 is never handed on: a reader of it would open the files it names. */
function foreignFormat(head: Buffer): string | undefined {
  const starts = (hex: string) => head.subarray(0, hex.length / 2).toString('hex') === hex;
  if (starts('514649fb')) return 'a qcow2 image';
  if (starts('28b52ffd')) return 'a zstd stream';
  if (starts('1f8b08')) return 'a gzip stream';
  if (starts('fd377a585a00')) return 'an xz stream';
  if (starts('4b444d56')) return 'a VMDK image';
  if (head.toString('latin1', 0, 8) === 'vhdxfile') return 'a VHDX image';
  if (/^\s*<(!doctype html|html)/i.test(head.toString('latin1', 0, 512))) return 'an HTML page';
  return undefined;
}

function mismatch(reason: string, what: string): RailheadError {
  return new RailheadError('DRIVER_ERROR', `the image is not what the catalog says: ${what}`, {
    path: 'format',
    reason,
  });
}

/** @throws RailheadError INVALID_STATE (`reason` no-space) or UNSUPPORTED (`reason` sector-size) when the image does not fit the disk */
export function checkFits(
  facts: ImageFacts,
  disk: { path: string; sizeBytes: number; sectorSize: number },
): void {
  const { gpt, neededBytes } = facts;
  if (neededBytes > disk.sizeBytes)
    throw new RailheadError(
      'INVALID_STATE',
      `the image needs ${neededBytes} bytes, ${disk.path} has ${disk.sizeBytes}: choose a larger disk`,
      { path: 'disk', reason: 'no-space', imageBytes: neededBytes, diskBytes: disk.sizeBytes },
    );
  if (gpt !== undefined && gpt.sectorSize !== disk.sectorSize)
    throw new RailheadError(
      'UNSUPPORTED',
      `the image is made for sectors of ${gpt.sectorSize} bytes, ${disk.path} has ${disk.sectorSize}: build it for that sector size`,
      { path: 'disk', reason: 'sector-size', imageSector: gpt.sectorSize, diskSector: disk.sectorSize },
    );
}
