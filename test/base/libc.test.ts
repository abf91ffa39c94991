import { mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { run } from '#base/command.ts';
import { alignedBuffer, blockDeviceSize, logicalSectorSize, SystemCallFailed, zeroOut } from '#base/libc.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'railhead-libc-'));
afterAll(() => rmSync(directory, { recursive: true }));

const file = path.join(directory, 'disk');
writeFileSync(file, Buffer.alloc(1024 * 1024, 0xff));
truncateSync(file, 3 * 1024 * 1024);

test('an aligned buffer has the size asked for and nothing of others in it', () => {
  const [first, second] = [alignedBuffer(4096), alignedBuffer(4096)];
  first.fill(1);
  second.fill(2);
  expect(first.length).toBe(4096);
  expect(first.every((byte) => byte === 1)).toBe(true);
});

test('a refused call tells its number', async () => {
  const fd = openSync(file, 'r+');
  expect(() => blockDeviceSize(fd)).toThrow(SystemCallFailed);
  await expect(zeroOut(fd, 0, 512)).rejects.toBeInstanceOf(SystemCallFailed);
});

test.runIf(process.getuid?.() === 0)('a block device tells its sizes and zeroes a range', async () => {
  const device = (await run('losetup', ['-f', '--show', '-b', '4096', file])).trim();
  try {
    const fd = openSync(device, 'r+');
    expect(blockDeviceSize(fd)).toBe(3 * 1024 * 1024);
    expect(logicalSectorSize(fd)).toBe(4096);
    await zeroOut(fd, 4096, 8192);
    const shown = await run('sh', ['-c', `head -c 16384 ${device} | od -An -v -tx1 -w4096 | cut -c1-6`]);
    expect(
      shown
        .trim()
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['ff ff', '00 00', '00 00', 'ff ff']);
  } finally {
    await run('losetup', ['-d', device]);
  }
});
