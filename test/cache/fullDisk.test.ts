import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '#base/command.ts';
import { sendAndStayOpen, serveBytes } from '../fakes/rawHttpsServer.ts';
import { contentOf, filesIn, imageOf, startCache, startSource, temporaryDirectory } from './testBench.ts';

/** Loop mounts need both. */
const canMount = process.getuid?.() === 0 && existsSync('/dev/loop-control');
const megabyte = 1024 ** 2;

/** A file system of 64 MiB, of which about 55 MiB hold files. */
async function smallFileSystem(): Promise<string> {
  const directory = await temporaryDirectory();
  const device = path.join(directory, 'disk.img');
  const mountPoint = path.join(directory, 'mounted');
  await mkdir(mountPoint);
  await run('truncate', ['-s', '64M', device]);
  await run('mkfs.ext4', ['-q', '-m', '0', device]);
  await run('mount', ['-o', 'loop', device, mountPoint]);
  onTestFinished(async () => {
    await run('umount', [mountPoint]);
  });
  return mountPoint;
}

test.skipIf(!canMount)('an image larger than the free disk is refused before it fills it', async () => {
  const directory = await smallFileSystem();
  const source = await startSource(
    sendAndStayOpen(`HTTP/1.1 200 OK\r\nContent-Length: ${64 * megabyte}\r\n\r\n`),
  );
  const cache = await startCache({ directory });
  const image = imageOf(randomBytes(16), source.origin, { sizeBytes: 64 * megabyte });
  cache.desire([image]);
  await expect(cache.ready(image.digest)).rejects.toMatchObject({
    code: 'DRIVER_ERROR',
    details: { reason: 'no-space', limit: 'disk', neededBytes: 64 * megabyte },
  });
  expect(source.requests).toEqual([]);
  await cache.close();
});

/** A source at `/small`, and one at `/endless` that does not say how much it sends. */
function smallAndEndless(small: Buffer) {
  return startSource((request, socket, count) => {
    if (request.path === '/small') return serveBytes(small)(request, socket, count);
    socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
    const piece = Buffer.alloc(256 * 1024, 1);
    const pump = setInterval(() => socket.write(piece), 1);
    socket.on('close', () => clearInterval(pump));
  });
}

test.skipIf(!canMount)(
  'a pull of unknown size stops before it takes the reserve of the disk, and leaves the rest whole',
  async () => {
    const directory = await smallFileSystem();
    const small = randomBytes(megabyte);
    const source = await smallAndEndless(small);
    const cache = await startCache({ directory });
    const held = imageOf(small, `${source.origin}/small`);
    const { sizeBytes: _, ...endless } = imageOf(randomBytes(16), `${source.origin}/endless`);
    cache.desire([held]);
    await cache.ready(held.digest);
    cache.desire([held, endless]);
    const failure = await cache.ready(endless.digest).catch((error) => error.details);
    expect(failure).toMatchObject({ reason: 'no-space', limit: 'disk' });
    // The last look is at most a mebibyte old.
    expect(failure.freeBytes).toBeGreaterThan(failure.reserveBytes - 1.5 * megabyte);
    expect(failure.reserveBytes).toBeGreaterThan(2 * megabyte);
    expect(await contentOf(cache, held.digest)).toEqual(small);
    await cache.close();
    expect((await filesIn(directory)).filter((file) => !file.startsWith('lost+found')).length).toBe(1);
  },
);

test.skipIf(!canMount)('two pulls are not promised the same free bytes', async () => {
  const directory = await smallFileSystem();
  const sizeBytes = 30 * megabyte;
  const source = await startSource(
    sendAndStayOpen(`HTTP/1.1 200 OK\r\nContent-Length: ${sizeBytes}\r\n\r\n`),
  );
  const cache = await startCache({ directory });
  const images = ['/one', '/two'].map((name) =>
    imageOf(randomBytes(16), source.origin + name, { sizeBytes }),
  );
  cache.desire(images);
  const failed = await Promise.race(images.map(({ digest }) => cache.ready(digest).catch((error) => error)));
  expect(failed).toMatchObject({ details: { reason: 'no-space', limit: 'disk' } });
  await expect.poll(() => source.requests.length).toBe(1);
  await cache.close();
});

test.skipIf(!canMount)('a disk that others fill in mid-pull fails the pull by name', async () => {
  const directory = await smallFileSystem();
  const source = await smallAndEndless(randomBytes(16));
  const cache = await startCache({ directory });
  const { sizeBytes: _, ...endless } = imageOf(randomBytes(16), `${source.origin}/endless`);
  await run('sh', ['-c', `cat /dev/zero > ${directory}/other || true`]);
  cache.desire([endless]);
  await expect(cache.ready(endless.digest)).rejects.toMatchObject({ details: { reason: 'no-space' } });
  await cache.close();
});
