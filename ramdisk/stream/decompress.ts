import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import binding from 'zstd-napi/binding.js';
import { ignore, systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Compression } from '#contract/images.ts';
import { heapTidier } from './tidyHeap.ts';

/** What the zstd command decodes without being told to use more memory: 128 MiB of window. */
const windowLogMax = 27;
const outputBytes = 1024 * 1024;

/**
 * The plain bytes of a compressed stream, to its last member or frame. However well it is compressed, no more than one buffer of
 * output is made before it is taken: a buffer is the consumer's until it asks for the next.
 * @throws RailheadError DRIVER_ERROR (`reason` damaged, truncated) or UNSUPPORTED (window too large)
 */
export function decompressed(compression: Compression, bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  if (compression === 'zstd') return unzstd(bytes);
  if (compression === 'gzip') return gunzip(bytes);
  return bytes;
}

/**
 * RFC 8878, frame after frame, skippable ones too. Node's own decoder stops after the first frame, and zstd-napi's stream makes all
 * the output of its input at once, gigabytes for a few KiB of zeros: so its context is driven by hand.
 */
async function* unzstd(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const context = new binding.DCtx();
  context.setParameter(binding.DParameter.windowLogMax, windowLogMax);
  const output = Buffer.allocUnsafeSlow(outputBytes);
  let inFrame = false;
  for await (const part of bytes) {
    let input = part;
    for (let mayHoldMore = false; input.length > 0 || mayHoldMore; ) {
      const [expected, produced, consumed] = decode(context, output, input);
      input = input.subarray(consumed);
      inFrame = expected !== 0;
      mayHoldMore = inFrame && produced === output.length;
      if (produced > 0) yield output.subarray(0, produced);
    }
  }
  if (inFrame) throw compressionError('truncated', 'it ends within a zstd frame');
}

function decode(context: InstanceType<typeof binding.DCtx>, output: Buffer, input: Buffer) {
  try {
    return context.decompressStream(output, input);
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    if (/too much memory/i.test(what))
      throw new RailheadError(
        'UNSUPPORTED',
        `the image wants a zstd window of more than ${2 ** windowLogMax} bytes: compress it again with --long=${windowLogMax} or less`,
        { reason: 'zstd-window' },
        cause,
      );
    throw compressionError('damaged', `zstd says: ${what}`, cause);
  }
}

/** RFC 1952, all members. zlib works on a thread of its own and stops while its output is not taken. */
async function* gunzip(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const unzipped = createGunzip({ chunkSize: 256 * 1024 });
  const tidy = heapTidier();
  let sourceFailed = false;
  const feeding = pipeline(async function* () {
    try {
      yield* bytes;
    } catch (error) {
      sourceFailed = true;
      throw error;
    }
  }, unzipped);
  feeding.catch(ignore);
  try {
    for await (const part of unzipped) {
      tidy((part as Buffer).length);
      yield part as Buffer;
    }
    await feeding;
  } catch (error) {
    throw sourceFailed ? error : gzipError(error);
  }
}

function gzipError(error: unknown): unknown {
  const code = systemCode(error);
  if (code === 'Z_BUF_ERROR') return compressionError('truncated', 'it ends within a gzip member', error);
  if (code?.startsWith('Z_'))
    return compressionError('damaged', `zlib says: ${(error as Error).message}`, error);
  return error;
}

function compressionError(reason: string, what: string, cause?: unknown): RailheadError {
  return new RailheadError('DRIVER_ERROR', `the image cannot be decompressed: ${what}`, { reason }, cause);
}
