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

/** A file system of 16 MiB, which about 12 MiB of files fill. */
async function smallFileSystem(): Promise<string> {
  const directory = await temporaryDirectory();
  const device = path.join(directory, 'disk.img');
  const mountPoint = path.join(directory, 'mounted');
  await mkdir(mountPoint);
  await run('truncate', ['-s', '16M', device]);
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
    details: { reason: 'no-space', neededBytes: 64 * megabyte },
  });
  expect(source.requests).toEqual([]);
  await cache.close();
});

test.skipIf(!canMount)(
  'a disk that fills in mid-pull fails that pull and leaves the rest whole',
  async () => {
    const directory = await smallFileSystem();
    const small = randomBytes(megabyte);
    const source = await startSource((request, socket, count) => {
      if (request.path === '/small') return serveBytes(small)(request, socket, count);
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
      const piece = Buffer.alloc(256 * 1024, 1);
      const pump = setInterval(() => socket.write(piece), 1);
      socket.on('close', () => clearInterval(pump));
    });
    const cache = await startCache({ directory });
    const held = imageOf(small, `${source.origin}/small`);
    const { sizeBytes: _, ...endless } = imageOf(randomBytes(16), `${source.origin}/endless`);
    cache.desire([held]);
    await cache.ready(held.digest);
    cache.desire([held, endless]);
    await expect(cache.ready(endless.digest)).rejects.toMatchObject({ details: { reason: 'no-space' } });
    expect(await contentOf(cache, held.digest)).toEqual(small);
    await cache.close();
    expect((await filesIn(directory)).filter((file) => !file.startsWith('lost+found')).length).toBe(1);
  },
);
