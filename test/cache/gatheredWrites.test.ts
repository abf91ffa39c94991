import { randomBytes } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { GatheredWrites } from '#cache/gatheredWrites.ts';
import { temporaryDirectory } from './testBench.ts';

const MiB = 1024 ** 2;
const handles: FileHandle[] = [];

afterEach(() => Promise.all(handles.splice(0).map((handle) => handle.close())));

async function openFile(): Promise<FileHandle> {
  const handle = await open(path.join(await temporaryDirectory(), 'file'), 'w+');
  handles.push(handle);
  return handle;
}

test('bytes of any chunks are those of the file, in their order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 700_000 }), { maxLength: 12 }), async (lengths) => {
      const handle = await openFile();
      const writes = new GatheredWrites(handle);
      const chunks = lengths.map((length) => randomBytes(length));
      for (const chunk of chunks) await writes.append(chunk);
      await writes.settle();
      expect((await handle.readFile()).equals(Buffer.concat(chunks))).toBe(true);
    }),
    { numRuns: 15 },
  );
});

test('small chunks reach the file in few writes, and no more than two pieces are ever in memory', async () => {
  const handle = await openFile();
  const writev = vi.spyOn(handle, 'writev');
  const writes = new GatheredWrites(handle);
  for (let n = 0; n < 512; n++) await writes.append(Buffer.alloc(16 * 1024, n));
  expect(writev.mock.calls.length).toBeGreaterThanOrEqual(7);
  await writes.settle();
  expect(writev).toHaveBeenCalledTimes(8);
  expect((await handle.stat()).size).toBe(8 * MiB);
});

test('what a write fails with is told by every later call that has to wait', async () => {
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const writes = new GatheredWrites({ writev: () => Promise.reject(full) });
  await writes.append(Buffer.alloc(MiB));
  await expect(writes.append(Buffer.alloc(MiB))).rejects.toBe(full);
  await expect(writes.settle()).rejects.toBe(full);
  await expect(writes.restart()).rejects.toBe(full);
  await writes.quiet();
});

test('after a restart the next byte is the first of the file', async () => {
  const handle = await openFile();
  const writes = new GatheredWrites(handle);
  await writes.append(Buffer.alloc(MiB, 1));
  await writes.append(Buffer.from('gathered, and never written'));
  await writes.restart();
  await handle.truncate(0);
  await writes.append(Buffer.from('anew'));
  await writes.settle();
  expect(await handle.readFile('utf8')).toBe('anew');
});
