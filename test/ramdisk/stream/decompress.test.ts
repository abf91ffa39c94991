import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compress } from 'zstd-napi';
import type { Compression } from '#contract/images.ts';
import { decompressed } from '#ramdisk/stream/decompress.ts';

async function* cut(bytes: Buffer, at: number): AsyncGenerator<Buffer> {
  if (at > 0) yield bytes.subarray(0, at);
  yield bytes.subarray(at);
}

async function plain(compression: Compression, bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of decompressed(compression, bytes)) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error) => error.details?.reason ?? String(error),
  );

const skippable = Buffer.from('502a4d180400000061626364', 'hex');
const zstdFrames = Buffer.concat([
  Buffer.from(compress(Buffer.from('hello '))),
  skippable,
  Buffer.from(compress(Buffer.from('world'))),
]);
const gzipMembers = Buffer.concat([gzipSync('hello '), gzipSync('world')]);

describe.each([
  ['zstd', zstdFrames],
  ['gzip', gzipMembers],
  ['none', Buffer.from('hello world')],
] as const)('%s', (compression, bytes) => {
  // I7: several frames, split at every byte position.
  test('all frames come, wherever the stream is split', async () => {
    for (let at = 0; at <= bytes.length; at++)
      expect((await plain(compression, cut(bytes, at))).toString()).toBe('hello world');
  });

  test('an error of the source arrives as it is', async () => {
    const failing = (async function* () {
      yield bytes.subarray(0, 5);
      throw new Error('the source broke');
    })();
    await expect(plain(compression, failing)).rejects.toThrow('the source broke');
  });
});

test.each([
  ['zstd', zstdFrames],
  ['gzip', gzipMembers],
] as const)('%s that is cut is truncated, never whole', async (compression, bytes) => {
  for (const missing of [1, 4, 10])
    expect(await reasonOf(plain(compression, cut(bytes.subarray(0, -missing), 0)))).toBe('truncated');
});

test.each([
  ['zstd', zstdFrames],
  ['gzip', gzipMembers],
] as const)('%s with garbage behind it is damaged', async (compression, bytes) => {
  const spoilt = Buffer.concat([bytes, Buffer.from('garbage!garbage!')]);
  expect(await reasonOf(plain(compression, cut(spoilt, 0)))).toBe('damaged');
});

test('gzip with a wrong checksum is damaged', async () => {
  const spoilt = Buffer.from(gzipMembers);
  spoilt[spoilt.length - 8] = (spoilt[spoilt.length - 8] ?? 0) ^ 1;
  expect(await reasonOf(plain('gzip', cut(spoilt, 0)))).toBe('damaged');
});

test('zstd with a wrong content checksum is damaged', async () => {
  const checked = execFileSync('zstd', ['-c', '--check'], { input: randomBytes(1000) });
  checked[checked.length - 1] = (checked[checked.length - 1] ?? 0) ^ 1;
  expect(await reasonOf(plain('zstd', cut(checked, 0)))).toBe('damaged');
});

test('a zstd window beyond the cap is refused with what to do', async () => {
  const wide = execFileSync('zstd', ['-c', '--long=30', '--no-check'], {
    input: Buffer.alloc(200 << 20, 'x'),
  });
  // Only a frame that needs its window says so: a small content would shrink it.
  expect(await reasonOf(plain('zstd', cut(wide, 0)))).toBe('zstd-window');
});

test('a gigabyte of zeros in 32 KiB is handed out a buffer at a time', async () => {
  const bomb = execFileSync('sh', ['-c', 'head -c 1G /dev/zero | zstd -c'], { maxBuffer: 1 << 24 });
  const before = process.memoryUsage.rss();
  let total = 0;
  let most = 0;
  for await (const part of decompressed('zstd', cut(bomb, 0))) {
    total += part.length;
    most = Math.max(most, part.length);
  }
  expect(total).toBe(1024 ** 3);
  expect(most).toBeLessThanOrEqual(1024 * 1024);
  expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * 1024);
});

test('no input makes it fail otherwise than by saying so', async () => {
  const compressions = fc.constantFrom<Compression>('zstd', 'gzip');
  await fc.assert(
    fc.asyncProperty(compressions, fc.uint8Array({ maxLength: 300 }), async (compression, bytes) => {
      const reason = await reasonOf(plain(compression, cut(Buffer.from(bytes), 0)));
      expect(['none', 'damaged', 'truncated', 'zstd-window']).toContain(reason);
    }),
  );
});
