import { gzipSync, zstdCompressSync } from 'node:zlib';
import { decompressed } from '#ramdisk/stream/decompress.ts';
import { isRailheadError } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const plain = Buffer.from('railhead '.repeat(40));
const zstd = zstdCompressSync(plain);
const gzip = gzipSync(plain);
/** A small input may stand for gigabytes: enough is enough. */
const mostBytes = 4 << 20;

/** A compressed image; the first byte says by what. Its plain bytes, or a declared error. */
export const target: FuzzTarget = {
  seeds: [
    [1, zstd],
    [1, Buffer.concat([zstd, Buffer.from('502a4d1804000000deadbeef', 'hex'), zstd])],
    [0, gzip],
    [0, Buffer.concat([gzip, gzip])],
    [1, zstd.subarray(0, 9)],
    [0, gzip.subarray(0, 15)],
  ].map(([kind, bytes]) => Buffer.concat([Buffer.from([kind as number]), bytes as Buffer])),
  longest: 65_536,
  async run(input) {
    const parts = (async function* () {
      yield input.subarray(1, 20);
      yield input.subarray(20);
    })();
    let bytes = 0;
    for await (const part of decompressed((input[0] ?? 0) % 2 === 1 ? 'zstd' : 'gzip', parts)) {
      bytes += part.length;
      if (bytes > mostBytes) return;
    }
  },
  declares: isRailheadError,
};
