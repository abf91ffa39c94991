import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { type BootHttpLimits, startBootHttp } from '#bootserver/http/server.ts';
import { sendRange } from '#cache/send.ts';
import { ask } from './samples.ts';

/** More than the buffers of two sockets over loopback take. */
const bytes = randomBytes(24 * 1024 ** 2);

/** A boot listener with one large file at `/image` and one large buffer at `/binary`; counts what is open. */
async function serveImage(limits: Partial<BootHttpLimits>) {
  const file = await open(path.join(tmpdir(), `stalled-${process.pid}`), 'w+');
  await file.write(bytes);
  const counts = { open: 0, sending: 0, mostSending: 0, opened: 0 };
  const headers = { 'content-type': 'application/octet-stream' };
  const route = {
    status: 200,
    headers,
    length: bytes.length,
    body: async (target: Parameters<typeof sendRange>[1]) => {
      counts.mostSending = Math.max(counts.mostSending, ++counts.sending);
      await sendRange(file, target, 0, bytes.length).finally(() => counts.sending--);
    },
    release: () => {
      counts.open--;
    },
  };
  const server = await startBootHttp({
    address: '127.0.0.1',
    port: 0,
    log: silentLog(),
    limits,
    routes: () => [
      {
        path: '/binary',
        pattern: /^\/binary$/,
        answer: () => ({ status: 200, headers, length: bytes.length, body: bytes }),
      },
      {
        path: '/image',
        pattern: /^\/image$/,
        answer: () => {
          counts.open++;
          counts.opened++;
          return route;
        },
      },
    ],
  });
  onTestFinished(async () => {
    await server.close();
    await file.close();
  });
  return { url: server.url, counts };
}

/** A client that sends a request and never reads. */
async function stalled(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  socket.pause();
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;

test.each(['/image', '/binary'])('a client that never reads %s is cut off', async (target) => {
  const { url, counts } = await serveImage({ stallMs: 300 });
  const socket = await stalled(url, get(target));
  if (target === '/image') await expect.poll(() => counts.sending).toBe(1);
  // The time is the subject here: Node cuts off within two of them.
  await delay(1200);
  const closed = once(socket, 'close');
  socket.resume();
  await closed;
  expect(socket.bytesRead).toBeLessThan(bytes.length);
  expect(counts.open).toBe(0);
});

test('a slow client that goes on reading gets everything', async () => {
  const { url } = await serveImage({ stallMs: 300 });
  const socket = await stalled(url, get('/image').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  let received = 0;
  const begun = Date.now();
  for await (const chunk of socket) {
    received += (chunk as Buffer).length;
    await delay(2);
  }
  expect(received).toBeGreaterThan(bytes.length);
  expect(Date.now() - begun).toBeGreaterThan(600);
});

test('stalled clients hold the transfers that there are, and no more; the next one is served after them', async () => {
  const { url, counts } = await serveImage({ stallMs: 400, transfers: 3, connectionsPerClient: 30 });
  for (let count = 0; count < 20; count++) await stalled(url, get('/image'));
  await expect.poll(() => counts.open).toBe(20);
  expect(counts.sending).toBe(3);
  await expect.poll(() => counts.open, { timeout: 15_000 }).toBe(0);
  expect(counts.mostSending).toBe(3);
  const { body } = await ask(url, '/image');
  expect(body.equals(bytes)).toBe(true);
}, 20_000);

test('who waits for a turn and leaves is forgotten', async () => {
  const { url, counts } = await serveImage({ stallMs: 60_000, transfers: 1 });
  const first = await stalled(url, get('/image'));
  const second = await stalled(url, get('/image'));
  await expect.poll(() => counts.open).toBe(2);
  second.destroy();
  await expect.poll(() => counts.open).toBe(1);
  first.destroy();
  await expect.poll(() => counts.open).toBe(0);
});

test('one client gets its connections and no more, and another once one of them is closed', async () => {
  const { url } = await serveImage({ connectionsPerClient: 2 });
  const first = await stalled(url, '');
  await stalled(url, '');
  const third = await stalled(url, get('/nothing'));
  third.resume();
  await once(third, 'close');
  expect(third.bytesRead).toBe(0);
  first.destroy();
  await expect.poll(async () => (await ask(url, '/nothing').catch(() => undefined))?.status).toBe(404);
});

test('pipelined requests are answered in order, and open nothing before their turn', async () => {
  const { url, counts } = await serveImage({});
  const socket = await stalled(url, get('/image').repeat(5));
  await expect.poll(() => counts.sending).toBe(1);
  expect(counts.opened).toBe(1);
  socket.resume();
  await expect.poll(() => counts.opened, { timeout: 10_000 }).toBe(5);
  await expect.poll(() => counts.open, { timeout: 10_000 }).toBe(0);
  expect(counts.mostSending).toBe(1);
});

test('pipelined requests whose client leaves open nothing', async () => {
  const { url, counts } = await serveImage({});
  const socket = await stalled(url, get('/image').repeat(5));
  await expect.poll(() => counts.sending).toBe(1);
  socket.destroy();
  await expect.poll(() => counts.open).toBe(0);
  expect(counts.opened).toBe(1);
});

test('a client that piles up requests is cut off', async () => {
  const { url, counts } = await serveImage({});
  const socket = await stalled(url, get('/image').repeat(200));
  const closed = once(socket, 'close');
  socket.resume();
  await closed;
  await expect.poll(() => counts.open).toBe(0);
  expect(counts.opened).toBeLessThanOrEqual(1);
});
