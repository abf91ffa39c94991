import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alignedBuffer } from '#base/libc.ts';
import { openTarget } from '#ramdisk/disks/target.ts';
import { edgeBytes, openWriter } from '#ramdisk/stream/writer.ts';
import { fileDisk } from '../fakes/loopDisk.ts';

const MiB = 1024 * 1024;

/** A disk in memory that checks what a disk with O_DIRECT would refuse. */
function memoryDisk(sizeBytes: number, sectorSize: number, finishes: () => Promise<void> = async () => {}) {
  const content = Buffer.alloc(sizeBytes, 0xaa);
  const check = (offset: number, length: number) => {
    expect(offset % sectorSize).toBe(0);
    expect(length % sectorSize).toBe(0);
    expect(offset + length).toBeLessThanOrEqual(sizeBytes);
  };
  return {
    content,
    sizeBytes,
    sectorSize,
    write: async (buffer: Buffer, offset: number) => {
      check(offset, buffer.length);
      await finishes();
      buffer.copy(content, offset);
    },
    zero: async (offset: number, length: number) => {
      check(offset, length);
      await finishes();
      content.fill(0, offset, offset + length);
    },
  };
}

/** Bytes that differ from place to place, with runs of zeros as images have. */
function imageOf(length: number): Buffer {
  const image = Buffer.alloc(length);
  for (let at = 0; at < length; at += 4)
    if ((at >> 20) % 5 !== 2) image.writeUInt32LE(at, Math.min(at, length - 4));
  return image;
}

const image = imageOf(13 * MiB);

test('whatever the size of image, disk, sector and pieces, the disk holds the image and zeros to the end of the last sector', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: image.length }),
      fc.integer({ min: 0, max: 6 * MiB }),
      fc.constantFrom(512, 4096),
      fc.array(fc.integer({ min: 1, max: 3 * MiB }), { minLength: 1, maxLength: 6 }),
      async (length, spare, sectorSize, pieces) => {
        const sizeBytes = Math.max(2 * MiB, Math.ceil((length + spare) / sectorSize) * sectorSize);
        const disk = memoryDisk(sizeBytes, sectorSize, () => setImmediate());
        const writer = openWriter(disk);
        for (let at = 0, turn = 0; at < length; turn++) {
          const piece = Buffer.from(
            image.subarray(at, Math.min(length, at + (pieces[turn % pieces.length] ?? 1))),
          );
          await writer.write(piece);
          at += piece.length;
          // The buffer is the caller's again.
          piece.fill(0xee);
        }
        const { head, tail, imageBytes } = await writer.finish();
        expect(imageBytes).toBe(length);
        expect(disk.content.subarray(0, edgeBytes).every((byte) => byte === 0xaa)).toBe(true);
        head.copy(disk.content);
        tail.copy(disk.content, sizeBytes - tail.length);
        expect(disk.content.subarray(0, length).equals(image.subarray(0, length))).toBe(true);
        const sectorEnd = Math.ceil(length / sectorSize) * sectorSize;
        expect(disk.content.subarray(length, sectorEnd).every((byte) => byte === 0)).toBe(true);
      },
    ),
    { numRuns: 25 },
  );
});

// I10: n - 1, n, n + 1.
test.each([
  [-512, false],
  [0, false],
  [1, true],
])('an image of the disk size %i bytes: refused %s', async (more, refused) => {
  const disk = memoryDisk(4 * MiB, 512);
  const writer = openWriter(disk);
  const writing = writer.write(imageOf(4 * MiB + more)).then(() => writer.finish());
  if (refused)
    await expect(writing).rejects.toMatchObject({ code: 'INVALID_STATE', details: { reason: 'no-space' } });
  else expect((await writing).imageBytes).toBe(4 * MiB + more);
});

test('a write that fails is the failure of a later call, and no buffer is lost', async () => {
  const disk = memoryDisk(64 * MiB, 512, async () => {
    throw new Error('I/O error');
  });
  const writer = openWriter(disk);
  const writing = (async () => {
    for (let piece = 0; piece < 32; piece++) await writer.write(Buffer.alloc(MiB, 1));
  })();
  await expect(writing).rejects.toThrow('I/O error');
  await writer.abandon();
});

test('buffers for direct I/O begin at a multiple of 4096 and the kernel takes them', async () => {
  const disk = await fileDisk({ sizeBytes: 4 * MiB });
  try {
    const target = await openTarget(disk.path);
    const buffer = alignedBuffer(MiB).fill(0x5a);
    await target.write(buffer.subarray(512), 512);
    const back = alignedBuffer(MiB);
    await target.read(back.subarray(0, MiB), 0);
    await target.close();
    expect(back.subarray(512).equals(buffer.subarray(512))).toBe(true);
    expect(back.subarray(0, 512).every((byte) => byte === 0)).toBe(true);
  } finally {
    await disk.remove();
  }
});
