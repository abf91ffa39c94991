import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type BootNetwork, type BootServerOptions, startBootServer } from '#bootserver/bootServer.ts';
import { RailheadError } from '#contract/errors.ts';
import { imagePath, loopback, useBootServer } from './http/bootBench.ts';
import { ask, oneConnection } from './http/samples.ts';

const bench = useBootServer();

describe('binaries', () => {
  test.each(['/ipxe/ipxe-amd64.efi', '/ipxe//ipxe-amd64.efi', '//ipxe/ipxe-amd64.efi'])(
    '%s is served',
    async (target) => {
      const { status, headers, body } = await bench.get(target);
      expect([status, headers['content-length'], body.toString()]).toEqual([200, '6', 'loader']);
    },
  );

  test.each([
    '/ipxe/manifest.json',
    '/ipxe/nothing.efi',
    '/ipxe/..%2fx',
    '/',
    '/%zz',
    '/images',
    '/images/sha256/00',
  ])('%s is not', async (target) => {
    expect((await bench.get(target)).status).toBeGreaterThanOrEqual(400);
  });
});

test('the length of an answer is named in the capitals that GRUB 2.12 looks for', async () => {
  const { hostname, port } = new URL(bench.server.httpUrl);
  const socket = connect(Number(port), hostname);
  socket.end('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(await text(socket)).toContain('\r\nContent-Length: 3\r\n');
});

test('one connection survives HEAD, GET and not found', async () => {
  const agent = oneConnection();
  const statuses: number[] = [];
  const ports = new Set<unknown>();
  agent.on('free', (socket: { localPort?: number }) => ports.add(socket.localPort));
  for (const [method, target] of [
    ['HEAD', imagePath],
    ['GET', imagePath],
    ['GET', '/missing'],
    ['GET', imagePath],
    ['HEAD', '/missing'],
    ['GET', '/healthz'],
  ] as const) {
    statuses.push((await bench.get(target, { method, agent })).status);
  }
  expect(statuses).toEqual([200, 200, 404, 200, 404, 200]);
  expect(ports.size).toBe(1);
  agent.destroy();
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
  expect((await bench.get('/healthz', { method })).status).toBe(400);
});

describe('starting', () => {
  test('without iPXE binaries the field and the remedy are named', async () => {
    const start = startBootServer({
      ...bench.options,
      ipxeDirectory: path.join(bench.options.ipxeDirectory, 'missing'),
    });
    await expect(start).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      details: { path: 'ipxeDirectory' },
      message: expect.stringContaining('railhead ipxe refresh'),
    });
    await expect(start).rejects.toBeInstanceOf(RailheadError);
  });

  test('on an interface that is not there it fails and leaves nothing bound', async () => {
    const port = Number(new URL(bench.server.httpUrl).port) + 1;
    const second: BootNetwork = { ...loopback, mode: 'full', interface: 'nope0', address: '127.0.0.2' };
    const start = startBootServer({ ...bench.options, httpPort: port, networks: [loopback, second] });
    await expect(start).rejects.toMatchObject({ code: 'ENODEV', network: second });
    const again = await startBootServer({ ...bench.options, httpPort: port });
    await again.close();
  });

  test('each network has a listener at its own address, which a machine is sent back to', async () => {
    const networks: BootServerOptions['networks'] = [
      loopback,
      { ...loopback, mode: 'off', interface: 'none', address: '127.0.0.2' },
    ];
    const two = await startBootServer({ ...bench.options, networks });
    onTestFinished(() => two.close());
    const url = two.httpUrlAt('127.0.0.2');
    expect(new URL(url).hostname).toBe('127.0.0.2');
    expect((await ask(url, '/boot.ipxe')).body.toString()).toContain(`${url}/ipxe?mac=`);
    expect(two.httpUrlAt('192.0.2.1')).toBe(two.httpUrl);
  });
});
