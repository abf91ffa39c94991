import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { RailheadError } from '#contract/errors.ts';
import { createDoor, type DoorOptions } from '#doors/door.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import { addRoutes, anyone, route, servedBy } from '#doors/routes.ts';
import { selfSignedIdentity } from '../fakes/certificates.ts';

/** A door with one open route and one for whoever says who he is. */
async function openDoor(options: Partial<DoorOptions> = {}) {
  const door = createDoor({
    log: silentLog(),
    bodyLimit: 1000,
    rate: { perSecond: 1, burst: 1000 },
    connections: { perClient: 4, total: 8 },
    ...options,
  });
  const bodies: unknown[] = [];
  const dismissed = new Set<string>();
  const admit = ({ headers }: { headers: Record<string, unknown> }) => {
    const name = String(headers.authorization);
    if (headers.authorization !== undefined && !dismissed.has(name)) return name;
    throw new RailheadError('UNAUTHENTICATED', 'who are you?', { reason: 'missing' });
  };
  const limiter = new RateLimiter({ perSecond: 0.5, burst: 2 });
  addRoutes(door, [
    route({ method: 'GET', path: '/open', admit: anyone, answer: () => ({ open: true }) }),
    route({ method: 'GET', path: '/known', admit, answer: () => ({}) }),
    route({
      method: 'POST',
      path: '/closed',
      admit,
      allowance: { limiter, keyOf: (name) => name },
      answer: ({ body }) => {
        bodies.push(body);
        return {};
      },
    }),
  ]);
  const url = await door.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => door.close());
  const { port } = door.server.address() as AddressInfo;
  return { door, url, port, bodies, dismiss: (name: string) => dismissed.add(name) };
}

const post = (url: string, headers: Record<string, string> = {}, body = '{}') =>
  fetch(`${url}/closed`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

async function dial(port: number, bytes = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  if (bytes !== '') socket.write(bytes);
  return socket;
}

test('what is not in the table is not found, whatever the method, and the answer repeats no query', async () => {
  const { url, door } = await openDoor();
  for (const [method, path] of [
    ['GET', '/closed'],
    ['POST', '/open'],
    ['HEAD', '/open'],
    ['DELETE', '/open'],
    ['GET', '/other?token=secret'],
    ['GET', '/open/'],
    ['GET', '/x%2fopen'],
  ] as const) {
    const answer = await fetch(`${url}${path}`, { method });
    expect(answer.status).toBe(404);
    if (method !== 'HEAD') expect(await answer.text()).toMatch(/^\{"error":\{"code":"NOT_FOUND"(?!.*secret)/);
  }
  expect(servedBy(door)).toEqual(['GET /open', 'GET /known', 'POST /closed']);
});

test('a path that is no path is refused in the same form, repeats nothing of it, and costs as every refusal', async () => {
  const { url } = await openDoor({ rate: { perSecond: 0.1, burst: 50 } });
  const answer = await fetch(`${url}/%ff?token=secret`);
  const body = await answer.text();
  expect([answer.status, JSON.parse(body)]).toMatchObject([400, { error: { code: 'INVALID_INPUT' } }]);
  expect(body).not.toContain('secret');
  const statuses: number[] = [];
  for (let count = 0; count < 9; count++) statuses.push((await fetch(`${url}/%c0%80`)).status);
  expect(statuses.filter((status) => status === 400)).toHaveLength(4);
  expect(statuses.at(-1)).toBe(429);
});

test('a request that names no host is refused in the same form', async () => {
  const { port } = await openDoor();
  expect(await text(await dial(port, 'GET /open HTTP/1.1\r\nconnection: close\r\n\r\n'))).toMatch(
    /^HTTP\/1\.1 400 .*"code":"INVALID_INPUT"/s,
  );
});

test('who calls is settled before the body is read', async () => {
  const { url, port, bodies } = await openDoor();
  const socket = await dial(
    port,
    'POST /closed HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n',
  );
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(first.toString()).toMatch(/^HTTP\/1.1 401 /);
  expect((await post(url, { authorization: 'me' }, '{')).status).toBe(400);
  expect(bodies).toEqual([]);
});

test('who was let in is asked again when the body is there', async () => {
  const { port, bodies, dismiss } = await openDoor();
  const head = 'POST /closed HTTP/1.1\r\nhost: x\r\nauthorization: me\r\nexpect: 100-continue\r\n';
  const socket = await dial(
    port,
    `${head}content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n`,
  );
  await once(socket, 'readable');
  dismiss('me');
  socket.write('{}');
  expect(await text(socket)).toMatch(/HTTP\/1\.1 401 /);
  expect(bodies).toEqual([]);
});

test('a body that is too long is refused', async () => {
  const { url } = await openDoor();
  const answer = await post(url, { authorization: 'me' }, JSON.stringify('x'.repeat(1000)));
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'INVALID_INPUT' } }]);
});

test('a flood of headers is cut off with 431', async () => {
  const { port } = await openDoor();
  const socket = await dial(port, 'GET /open HTTP/1.1\r\nhost: x\r\n');
  for (let count = 0; count < 200; count++) socket.write(`x-${count}: ${'y'.repeat(90)}\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1.1 431 .*"code":"INVALID_INPUT"/s);
});

test('bytes that are no request are cut off', async () => {
  const { port } = await openDoor();
  expect(await text(await dial(port, 'hello\r\n\r\n'))).toMatch(/^HTTP\/1.1 400 /);
});

test('who sends headers too slowly is cut off', async () => {
  const { port } = await openDoor({ times: { headersTimeout: 400, connectionsCheckingInterval: 100 } });
  const socket = await dial(port, 'GET /open HTTP/1.1\r\n');
  const drip = setInterval(() => socket.write('a: b\r\n'), 50);
  onTestFinished(() => clearInterval(drip));
  const begun = Date.now();
  expect(await text(socket)).toMatch(/^HTTP\/1.1 408 /);
  expect(Date.now() - begun).toBeLessThan(5_000);
});

test('one caller comes as often as it may, then is told when to come again; another is not held back', async () => {
  const { url } = await openDoor();
  const me = { authorization: 'me' };
  expect([(await post(url, me)).status, (await post(url, me)).status]).toEqual([200, 200]);
  const refused = await post(url, me);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('2');
  expect(await refused.json()).toMatchObject({
    error: { code: 'RATE_LIMITED', details: { reason: 'token', retryAfterSeconds: 2 } },
  });
  expect((await post(url, { authorization: 'you' })).status).toBe(200);
});

test('one address comes as often as it may, and guessing costs it ten times as much', async () => {
  const rate = { perSecond: 0.1, burst: 50 };
  const open = await openDoor({ rate });
  const guesses: number[] = [];
  for (let count = 0; count < 10; count++) guesses.push((await post(open.url)).status);
  expect(guesses.filter((status) => status === 401)).toHaveLength(5);
  expect(guesses.at(-1)).toBe(429);
  expect((await fetch(`${open.url}/open`)).status).toBe(429);
  const calm = await openDoor({ rate });
  const answers = await Promise.all(Array.from({ length: 60 }, () => calm.door.inject('/open')));
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(50);
});

test('a guesser keeps nobody out who may come from the same address, and nobody there pays for it but strangers', async () => {
  const { url } = await openDoor({ rate: { perSecond: 0.1, burst: 50 } });
  for (let count = 0; count < 20; count++) await post(url);
  expect((await post(url)).status).toBe(429);
  const me = { authorization: 'me' };
  expect([(await post(url, me)).status, (await post(url, me)).status]).toEqual([200, 200]);
  expect(await (await post(url, me)).json()).toMatchObject({ error: { details: { reason: 'token' } } });
});

test('whom no row gives an allowance has the one of its address, apart from its strangers', async () => {
  const { url } = await openDoor({ rate: { perSecond: 0.1, burst: 3 } });
  const known = () => fetch(`${url}/known`, { headers: { authorization: 'me' } });
  const statuses: number[] = [];
  expect((await fetch(`${url}/known`)).status).toBe(401);
  expect((await fetch(`${url}/open`)).status).toBe(429);
  for (let count = 0; count < 4; count++) statuses.push((await known()).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
});

test('behind a proxy that is trusted each client has its own rate; others cannot name themselves', async () => {
  const rate = { perSecond: 0.1, burst: 1 };
  const as = (url: string, client: string) =>
    fetch(`${url}/open`, { headers: { 'x-forwarded-for': client } });
  const behind = await openDoor({ rate, trustProxy: ['127.0.0.1'] });
  expect((await as(behind.url, '10.0.0.1')).status).toBe(200);
  expect((await as(behind.url, '10.0.0.2')).status).toBe(200);
  expect((await as(behind.url, '10.0.0.1')).status).toBe(429);
  const direct = await openDoor({ rate });
  expect((await as(direct.url, '10.0.0.1')).status).toBe(200);
  expect((await as(direct.url, '10.0.0.2')).status).toBe(429);
});

test('one client holds so many connections and no more', async () => {
  const { port } = await openDoor();
  const held = [await dial(port), await dial(port), await dial(port), await dial(port)];
  const further = await dial(port);
  further.resume();
  await once(further, 'close');
  held[0]?.destroy();
  const request = 'GET /open HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
  await expect.poll(async () => text(await dial(port, request))).toMatch(/^HTTP\/1.1 200 /);
});

test('TLS is 1.3 or nothing', async () => {
  const { port } = await openDoor({ tls: { ...(await selfSignedIdentity()) } });
  const handshake = (maxVersion: 'TLSv1.2' | 'TLSv1.3') =>
    new Promise<string>((resolve) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion });
      socket.once('secureConnect', () => resolve(`${socket.getProtocol()} ${socket.getCipher().name}`));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      onTestFinished(() => void socket.destroy());
    });
  expect(await handshake('TLSv1.3')).toMatch(/^TLSv1\.3 TLS_AES_256_GCM_SHA384$/);
  expect(await handshake('TLSv1.2')).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
});

test('no TLS session is resumed: each connection shows its certificates anew', async () => {
  const { port } = await openDoor({ tls: { ...(await selfSignedIdentity()) } });
  const handshake = async (session?: Buffer) => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, session });
    const sessions: Buffer[] = [];
    let resumed: boolean | undefined;
    socket.on('session', (told: Buffer) => sessions.push(told));
    socket.once('secureConnect', () => {
      resumed = socket.isSessionReused();
    });
    socket.write('GET /open HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
    return { resumed, session: sessions.at(-1) };
  };
  const first = await handshake();
  expect((await handshake(first.session)).resumed).toBe(false);
});
