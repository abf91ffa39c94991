import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, createServer, get, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type { Held } from '#cache/imageCache.ts';
import { openRegular } from '#cache/openRegular.ts';
import { heldOf } from '#cache/read.ts';
import { temporaryDirectory } from './testBench.ts';

// More than the buffers of a socket on loopback hold: sendfile finds it full again and again.
const bytes = randomBytes(24_500_000);

async function heldFile(): Promise<Held> {
  const file = path.join(await temporaryDirectory(), 'artifact');
  await writeFile(file, bytes);
  const { handle, stamp } = await openRegular(file);
  const held = heldOf(handle, stamp.sizeBytes, { onClose: () => {}, onFault: () => {} });
  onTestFinished(() => held.close());
  return held;
}

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('a range arrives as it is in the file, however slow the receiver', async () => {
  const held = await heldFile();
  const received: Buffer[] = [];
  const slow = new Writable({
    highWaterMark: 1,
    write: (chunk, _encoding, done) => {
      setImmediate(() => {
        // Copied only now: a buffer that was filled again too early would show.
        received.push(Buffer.from(chunk));
        done();
      });
    },
  });
  await held.sendTo(slow, 7, 9_400_001);
  expect(Buffer.concat(received).equals(bytes.subarray(7, 9_400_001))).toBe(true);
});

test('several ranges of one artifact are sent at a time over HTTP', async () => {
  const held = await heldFile();
  const port = await serve(async (request, response) => {
    const start = Number(request.url?.slice(1));
    response.writeHead(200, { 'content-length': bytes.length - start });
    await held.sendTo(response, start, bytes.length);
    response.end();
  });
  const starts = [0, 1, 400_000, 24_499_999];
  const answers = await Promise.all(
    starts.map(async (start) =>
      Buffer.from(await (await fetch(`http://127.0.0.1:${port}/${start}`)).arrayBuffer()),
    ),
  );
  expect(answers.map((answer, index) => answer.equals(bytes.subarray(starts[index])))).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

test('a receiver that goes away ends the sending', async () => {
  const held = await heldFile();
  const ended = Promise.withResolvers<unknown>();
  const sendForEver = async (target: Writable) => {
    for (;;) await held.sendTo(target, 0, bytes.length);
  };
  const port = await serve((_request, response) => {
    sendForEver(response).catch(ended.resolve);
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.once('data', () => socket.destroy());
  expect(await ended.promise).toBeInstanceOf(Error);
});

test('an empty range sends nothing, and a range beyond the file fails', async () => {
  const held = await heldFile();
  const target = new PassThrough();
  const arrived = buffer(target);
  await held.sendTo(target, 5, 5);
  await expect(held.sendTo(target, bytes.length, bytes.length + 1)).rejects.toThrow(RangeError);
  target.end();
  expect((await arrived).length).toBe(0);
});

test('an answer in chunks, whose length nobody has said, is not sent past them', async () => {
  const held = await heldFile();
  const port = await serve(async (_request, response) => {
    response.writeHead(200);
    await held.sendTo(response, 0, bytes.length);
    response.end();
  });
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect(answer.headers.get('transfer-encoding')).toBe('chunked');
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
});

test('a connection is kept for the next request after bytes that the kernel has sent', async () => {
  const held = await heldFile();
  const ports = new Set<number | undefined>();
  const port = await serve(async (request, response) => {
    ports.add(request.socket.remotePort);
    response.writeHead(200, { 'content-length': bytes.length });
    await held.sendTo(response, 0, bytes.length);
    response.end();
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  for (let turn = 0; turn < 3; turn++) {
    const answered = once(get({ port, host: '127.0.0.1', agent }), 'response');
    const [answer] = (await answered) as [IncomingMessage];
    expect((await buffer(answer)).equals(bytes)).toBe(true);
  }
  expect(ports.size).toBe(1);
});

test('a transfer that is cut off in the middle ends for both, and nobody else gets its bytes', async () => {
  const held = await heldFile();
  const ended = Promise.withResolvers<unknown>();
  const port = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': bytes.length });
    held.sendTo(response, 0, bytes.length).catch(ended.resolve);
    setTimeout(() => response.destroy(new Error('withdrawn')), 50);
  });
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  // It reads no further until the server has given it up.
  await once(socket, 'readable');
  expect(await ended.promise).toBeInstanceOf(Error);
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  await closed;
  expect(received).toBeLessThan(bytes.length);
});
