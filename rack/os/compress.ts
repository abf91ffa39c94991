import { PassThrough, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, createZstdCompress, zstdCompress } from 'node:zlib';
import type { Compression } from '#contract/images.ts';

/** Node's own zlib and zstd, pinned with Node: the same input gives the same bytes on every host. */
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 12 } };

export function zstdFrame(content: Buffer): Promise<Buffer> {
  return promisify(zstdCompress)(content, zstdOptions);
}

/** A stream that compresses what is written to it. */
export function compressor(compression: Compression): Transform {
  if (compression === 'zstd') return createZstdCompress(zstdOptions);
  if (compression === 'gzip') return createGzip({ level: 6 });
  return new PassThrough();
}

export const artifactSuffix: Record<Compression, string> = { zstd: '.zst', gzip: '.gz', none: '' };
