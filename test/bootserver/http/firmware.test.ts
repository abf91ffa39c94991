import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { bytesAnswer } from '#bootserver/http/answer.ts';
import { type BootHttp, startBootHttp } from '#bootserver/http/server.ts';

let server: BootHttp;

beforeAll(async () => {
  const loader = {
    path: '/ipxe/ipxe.efi',
    pattern: /^\/ipxe\/ipxe\.efi$/,
    answer: () => bytesAnswer(Buffer.from('loader'), 'application/octet-stream'),
  };
  server = await startBootHttp({ address: '127.0.0.1', port: 0, routes: () => [loader], log: silentLog() });
});

afterAll(() => server.close());

async function connected(): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

/** What comes back for this text, until `end` is in it or the server closes. */
async function answerTo(socket: Socket, text: string, end: string): Promise<string> {
  socket.write(text);
  let received = '';
  const closed = once(socket, 'end').then(() => undefined);
  while (!received.includes(end)) {
    const chunk = await Promise.race([once(socket, 'data'), closed]);
    if (chunk === undefined) break;
    received += chunk[0];
  }
  return received;
}

// case 46
test.each([
  '/ipxe//ipxe.efi',
  '//ipxe/ipxe.efi',
  '/./ipxe/ipxe.efi',
  '/ipxe/ipxe.efi#x',
  'http://10.0.0.1:8080/ipxe/ipxe.efi',
  '/ipxe/ipxe.efi?',
  '/%69pxe/ipxe.efi',
])('GET %s is answered at once, by no redirect', async (target) => {
  const socket = await connected();
  const answer = await answerTo(socket, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`, 'loader');
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toMatch(/\r\ncontent-length: 6\r\n/i);
  expect(answer).not.toMatch(/transfer-encoding|location:/i);
  socket.destroy();
});

// case 47: a request that names this host as UefiHttpBoot/1.0 does, in one connection
test('HEAD, GET, what is not there and GET again come over one connection with their exact lengths', async () => {
  const socket = await connected();
  const host = 'Host: 127.0.0.1\r\nUser-Agent: UefiHttpBoot/1.0\r\nAccept: */*\r\n\r\n';
  const head = await answerTo(socket, `HEAD /ipxe/ipxe.efi HTTP/1.1\r\n${host}`, '\r\n\r\n');
  const first = await answerTo(socket, `GET /ipxe/ipxe.efi HTTP/1.1\r\n${host}`, 'loader');
  const missing = await answerTo(socket, `GET /missing HTTP/1.1\r\n${host}`, '}}');
  const second = await answerTo(socket, `GET /ipxe/ipxe.efi HTTP/1.1\r\n${host}`, 'loader');
  const lengths = [head, first, second].map((answer) => /content-length: (\d+)/i.exec(answer)?.[1]);
  expect(lengths).toEqual(['6', '6', '6']);
  expect(head.endsWith('\r\n\r\n')).toBe(true);
  expect(missing).toMatch(/^HTTP\/1\.1 404 /);
  expect(missing).not.toMatch(/connection: close/i);
  for (const answer of [head, first, missing])
    expect(Number(/keep-alive: timeout=(\d+)/i.exec(answer)?.[1])).toBeGreaterThanOrEqual(30);
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

test('a client of HTTP/1.0 gets the length and then the end of the connection', async () => {
  const socket = await connected();
  const answer = await answerTo(socket, 'GET /ipxe/ipxe.efi HTTP/1.0\r\n\r\n', 'never');
  expect(answer).toMatch(/content-length: 6\r\n/i);
  expect(answer).not.toMatch(/transfer-encoding/i);
  expect(answer.endsWith('\r\n\r\nloader')).toBe(true);
});

test('one that wants to keep its connection keeps it', async () => {
  const socket = await connected();
  const ask = 'GET /ipxe/ipxe.efi HTTP/1.0\r\nConnection: keep-alive\r\n\r\n';
  expect(await answerTo(socket, ask, 'loader')).toMatch(/connection: keep-alive/i);
  expect(await answerTo(socket, ask, 'loader')).toMatch(/ 200 /);
  socket.destroy();
});
