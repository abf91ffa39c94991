import { expect, test } from 'vitest';
import { sendAndClose } from '../fakes/rawHttpsServer.ts';
import { imageOf, startCache, startSource, temporaryDirectory } from './testBench.ts';

const ten = Buffer.from('0123456789');
const other = Buffer.from('9876543210');

test('what a machine waits for is pulled though a prewarm holds the only place, and the prewarm goes on after it', async () => {
  const goOn = Promise.withResolvers<void>();
  const source = await startSource((request, socket, count) => {
    if (request.path === '/fast')
      return sendAndClose(`HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n${other}`)(request, socket, count);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n${ten.subarray(0, 5)}`);
    void goOn.promise.then(() => socket.end(ten.subarray(5)));
  });
  const cache = await startCache({ directory: await temporaryDirectory(), parallelPulls: 1 });
  const prewarm = imageOf(ten, `${source.origin}/slow`, { ref: 'slow@1' });
  const deployed = imageOf(other, `${source.origin}/fast`, { ref: 'fast@1' });
  cache.desire([prewarm]);
  await expect.poll(() => cache.state(prewarm.digest)?.receivedBytes).toBe(5);
  cache.desire([prewarm, deployed]);
  expect(cache.state(deployed.digest)).toMatchObject({ state: 'pulling', receivedBytes: 0 });
  await cache.ready(deployed.digest);
  expect(cache.state(prewarm.digest)).toMatchObject({ state: 'pulling', receivedBytes: 5 });
  goOn.resolve();
  await expect.poll(() => cache.state(prewarm.digest)?.state).toBe('ready');
});

test('the bandwidth of the hour holds for pulls, and the row tells rate and time left', async () => {
  const bytes = Buffer.alloc(4 * 1024 ** 2, 7);
  const source = await startSource((_request, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`);
    socket.write(bytes);
  });
  const bandwidth = [{ from: '00:00', to: '00:00', bytesPerSecond: 2 * 1024 ** 2 }];
  const clock = {
    now: () => Date.now(),
    sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)),
  };
  const cache = await startCache({ directory: await temporaryDirectory(), bandwidth, clock });
  const image = imageOf(bytes, `${source.origin}/image`);
  const begun = Date.now();
  cache.desire([image]);
  await expect
    .poll(() => cache.state(image.digest)?.bytesPerSecond, { timeout: 3000 })
    .toBeLessThan(3 * 1024 ** 2);
  expect(cache.state(image.digest)?.etaSeconds).toBeGreaterThan(0);
  await cache.ready(image.digest);
  expect(Date.now() - begun).toBeGreaterThan(1500);
});
