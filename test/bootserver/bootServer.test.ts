import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import {
  type BootNetwork,
  type BootServer,
  type BootServerOptions,
  startBootServer,
} from '#bootserver/bootServer.ts';
import { openHeardAddresses } from '#bootserver/heardAddresses.ts';
import type { BootDecision, BootEvent, MachineFacts } from '#bootserver/machine.ts';
import { RailheadError } from '#contract/errors.ts';
import type { CachedImage } from '#contract/images.ts';
import { ask, digest, image, OneImage, oneConnection } from './http/samples.ts';

const images = new OneImage();
const events: BootEvent[] = [];
const mac = '52:54:00:77:00:41';
const loopback: BootNetwork = {
  mode: 'off',
  interface: 'lo',
  address: '127.0.0.1',
  prefixLength: 8,
  leaseSeconds: 600,
  machineUrl: 'https://127.0.0.1:8443',
};
let decision: BootDecision;
let asked: MachineFacts[];
let directory: string;
let options: BootServerOptions;
let server: BootServer;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'boot-'));
  await writeFile(path.join(directory, 'ipxe-amd64.efi'), 'loader');
  await writeFile(path.join(directory, 'manifest.json'), '{}');
  options = {
    networks: [loopback],
    reservations: { reservation: () => undefined, isReserved: () => false },
    decide: (machine) => {
      asked.push(machine);
      return decision;
    },
    images,
    ipxeDirectory: directory,
    database: databaseOf(mac, '127.0.0.1'),
    leaseFile: path.join(directory, 'leases.db'),
    timeline: (event) => events.push(event),
    log: silentLog(),
    httpPort: 0,
    dhcpPort: 0,
    tftpPort: 0,
  };
  server = await startBootServer(options);
});

/** Another DHCP server gave the machine this address. */
function databaseOf(mac: string, address: string): BootServerOptions['database'] {
  const database = new Database(':memory:');
  const heard = openHeardAddresses({ database, log: silentLog(), isNamed: () => true });
  heard.heard(mac, address, 67);
  heard.close();
  return database;
}

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

beforeEach(() => {
  decision = { kind: 'disk' };
  asked = [];
  events.length = 0;
  images.state = () => undefined;
});

const get = (target: string, more: Parameters<typeof ask>[2] = {}) => ask(server.httpUrl, target, more);
const imagePath = `/images/sha256/${digest}`;
const query =
  'mac=52:54:00:77:00:41&uuid=11223344-5566-7788-99AA-bbccddeeff00&serial=S%20N1&platform=efi&buildarch=x86_64';

describe('menus for GRUB', () => {
  const menu = '/grub/menu/52:54:00:77:00:41/x86_64/11223344-5566-7788-99AA-bbccddeeff00';

  test.each(['/grub/grub.cfg', '/grub/x86_64-efi/grub.cfg', '/grub/arm64-efi/grub.cfg'])(
    'the first configuration is at %s',
    async (name) => {
      const { host } = new URL(server.httpUrl);
      expect((await get(name)).body.toString()).toContain(`(http,${host})/grub/menu/`);
    },
  );

  test('a machine is described to whoever decides, and boots the ramdisk by the sections of its image', async () => {
    decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: ['quiet'] };
    const { body } = await get(menu);
    const uuid = '11223344-5566-7788-99aa-bbccddeeff00';
    expect(asked).toMatchObject([
      { mac: '52:54:00:77:00:41', uuid, architecture: 'x86_64', firmware: 'uefi' },
    ]);
    expect(body.toString()).toContain(
      `${imagePath}/sections/linux' 'quiet' 'railhead.site=https://127.0.0.1:8443' 'railhead.token=tok_1' 'railhead.mac=52:54:00:77:00:41'`,
    );
    expect(events).toMatchObject([{ type: 'boot.script' }]);
  });

  test('HEAD tells the size of whatever GET brings: GRUB asks for these many bytes', async () => {
    const { headers } = await get(menu, { method: 'HEAD' });
    expect(events).toEqual([]);
    decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: ['quiet'] };
    expect((await get(menu)).headers['content-length']).toBe(headers['content-length']);
  });

  test('without a UUID the machine has none, and what is no machine is refused', async () => {
    expect((await get('/grub/menu/52:54:00:77:00:41/arm64/')).status).toBe(200);
    expect(asked[0]).not.toHaveProperty('uuid');
    expect((await get('/grub/menu/x/x86_64/')).status).toBe(400);
    expect((await get('/grub/menu/52:54:00:77:00:41/vax/')).status).toBe(400);
  });
});

describe('scripts', () => {
  test('the first one names this server', async () => {
    const { status, headers, body } = await get('/boot.ipxe');
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'no-store',
    ]);
    expect(body.toString()).toContain(`chain --replace --autofree ${server.httpUrl}/ipxe?mac=`);
  });

  test('iPXE finds the same beside its binary, before any DHCP of its own', async () => {
    const { body } = await get('/ipxe/autoexec.ipxe');
    expect(body).toEqual((await get('/boot.ipxe')).body);
  });

  test('a machine whose entry is for a VLAN is sent there, and says so when it asks again', async () => {
    decision = { kind: 'vlan', vlan: 42 };
    const script = (await get(`/ipxe?${query}&vlan=`)).body.toString();
    expect(script).toContain('vcreate --tag 42 ');
    expect(script).toContain(`${server.httpUrl}/boot.ipxe`);
    expect(events).toMatchObject([{ type: 'boot.script', text: expect.stringContaining('VLAN 42') }]);
    expect(script).toContain(`chain --autofree ${server.httpUrl}/ipxe/snponly.efi`);
    await get(`/ipxe?${query}&vlan=42`);
    expect(asked.map(({ vlan }) => vlan)).toEqual([undefined, 42]);
  });

  test.each(['x', '-1', '4.5', '42;'])('a VLAN %j is none', async (vlan) => {
    await get(`/ipxe?${query}&vlan=${vlan}`);
    expect(asked[0]).not.toHaveProperty('vlan');
  });

  test('a machine is described to whoever decides', async () => {
    await get(`/ipxe?${query}`);
    expect(asked).toEqual([
      {
        mac,
        leasedTo: mac,
        uuid: '11223344-5566-7788-99aa-bbccddeeff00',
        serial: 'S N1',
        architecture: 'x86_64',
        firmware: 'uefi',
        address: '127.0.0.1',
        bootId: expect.stringMatching(/^boot_/),
      },
    ]);
  });

  test('a HEAD decides nothing', async () => {
    expect((await get(`/ipxe?${query}`, { method: 'HEAD' })).status).toBe(400);
    expect(asked).toEqual([]);
  });

  test('without an entry it boots its disk', async () => {
    expect((await get(`/ipxe?${query}`)).body.toString()).toContain('sanboot --no-describe --drive 0x80');
    expect(events).toMatchObject([{ mac: '52:54:00:77:00:41', type: 'boot.disk' }]);
  });

  test('a UEFI machine is told which disk was deployed, a BIOS machine cannot use it', async () => {
    const espGuid = '0b1c2d3e-4f50-8123-9abc-def012345678';
    decision = { kind: 'disk', loader: { espGuid, path: '\\EFI\\BOOT\\BOOTX64.EFI' } };
    expect((await get(`/ipxe?${query}`)).body.toString()).toContain(`--uuid ${espGuid} --filename \\EFI\\`);
    expect(events).toMatchObject([{ type: 'boot.disk', text: expect.stringContaining(espGuid) }]);
    const { body } = await get(`/ipxe?${query.replace('platform=efi', 'platform=pcbios')}`);
    expect(body.toString()).not.toContain(espGuid);
  });

  test('case 28: with an entry it boots the ramdisk, which is told site, token and the MAC that asked', async () => {
    decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: ['console=ttyS0'] };
    const script = (await get(`/ipxe?${query}`)).body.toString();
    expect(script).toContain(
      `${server.httpUrl}${imagePath}/sections/linux initrd=initrd console=ttyS0 railhead.site=https://127.0.0.1:8443 railhead.token=tok_1 railhead.mac=52:54:00:77:00:41 `,
    );
    expect(events).toMatchObject([{ type: 'boot.script', bootId: asked[0]?.bootId }]);
  });

  test('a timeline that fails does not stop a boot', async () => {
    events.push = () => {
      throw new Error('the disk is full');
    };
    expect((await get(`/ipxe?${query}`)).status).toBe(200);
    Reflect.deleteProperty(events, 'push');
  });

  test('a BIOS machine gets kernel and initrd', async () => {
    decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: [] };
    const script = (await get('/ipxe?mac=52-54-00-77-00-41&platform=pcbios&buildarch=i386')).body.toString();
    expect(script).toContain(`${imagePath}/sections/linux initrd=initrd`);
    expect(asked[0]).toMatchObject({ firmware: 'bios', architecture: 'x86_64' });
  });

  test.each(['riscv64', 'constructor', '__proto__', ''])(
    'a machine of architecture %j, without a ramdisk, boots its disk, and nobody is asked',
    async (buildarch) => {
      const { body } = await get(`/ipxe?mac=52:54:00:77:00:41&platform=efi&buildarch=${buildarch}`);
      expect(body.toString()).toContain('sanboot');
      expect(asked).toEqual([]);
    },
  );

  test.each(['', 'mac=', 'mac=zz', 'mac=52:54:00:77:00:41%0Ashell'])('%j names no machine', async (text) => {
    const { status, body } = await get(`/ipxe?${text}`);
    expect(status).toBe(400);
    expect(JSON.parse(body.toString()).error).toMatchObject({
      code: 'INVALID_INPUT',
      details: { path: 'mac' },
    });
  });

  test('nothing that a client sends shows up in its script', async () => {
    decision = { kind: 'ramdisk', digest, token: 'tok_1', kernelArguments: [] };
    const evil = encodeURIComponent('\nshell\n$' + '{x}');
    const { body } = await get(
      `/ipxe?mac=52:54:00:77:00:41&platform=efi&buildarch=x86_64&uuid=${evil}&serial=${evil}`,
    );
    expect(body.toString()).not.toContain('shell');
  });

  test('a token that could not stand in a script is a failure of ours', async () => {
    decision = { kind: 'ramdisk', digest, token: 'a b', kernelArguments: [] };
    expect((await get(`/ipxe?${query}`)).status).toBe(500);
  });
});

describe('binaries', () => {
  test.each(['/ipxe/ipxe-amd64.efi', '/ipxe//ipxe-amd64.efi', '//ipxe/ipxe-amd64.efi'])(
    '%s is served',
    async (target) => {
      const { status, headers, body } = await get(target);
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
    expect((await get(target)).status).toBeGreaterThanOrEqual(400);
  });
});

describe('images', () => {
  const etag = `"sha256:${digest}"`;

  test('a whole one, with a strong validator and its digest', async () => {
    const { status, headers, body } = await get(imagePath);
    expect(status).toBe(200);
    expect(body).toEqual(image);
    expect(headers).toMatchObject({
      'content-length': '5000',
      'accept-ranges': 'bytes',
      etag,
      'repr-digest': `sha-256=:${Buffer.from(digest, 'hex').toString('base64')}:`,
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect(headers['transfer-encoding']).toBeUndefined();
  });

  test('firmware that boots it whole gets the same bytes as an EFI program', async () => {
    const { status, headers, body } = await get(`${imagePath}/ramdisk.efi`);
    expect([status, headers['content-type'], headers['content-length']]).toEqual([
      200,
      'application/efi',
      '5000',
    ]);
    expect(body).toEqual(image);
    expect((await get(`/images/sha256/${'0'.repeat(64)}/ramdisk.efi`)).status).toBe(404);
  });

  test('HEAD tells the same without a byte', async () => {
    const whole = await get(imagePath);
    const head = await get(imagePath, { method: 'HEAD' });
    expect(head.body.length).toBe(0);
    expect({ ...head.headers, date: '' }).toEqual({ ...whole.headers, date: '' });
  });

  test('a range', async () => {
    const { status, headers, body } = await get(imagePath, { headers: { range: 'bytes=100-199' } });
    expect(status).toBe(206);
    expect(headers['content-range']).toBe('bytes 100-199/5000');
    expect(body).toEqual(image.subarray(100, 200));
  });

  test('several ranges come as one multipart body whose length is known', async () => {
    const { status, headers, body } = await get(imagePath, { headers: { range: 'bytes=100-199, -10' } });
    expect(status).toBe(206);
    const boundary = /^multipart\/byteranges; boundary=(\w+)$/.exec(String(headers['content-type']))?.[1];
    expect(headers['content-length']).toBe(String(body.length));
    expect(headers).toMatchObject({ etag, 'accept-ranges': 'bytes' });
    const parts = body.toString('latin1').split(`\r\n--${boundary}`);
    expect(parts.at(-1)).toBe('--\r\n');
    const part = (range: string, bytes: Buffer) =>
      `\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${range}/5000\r\n\r\n${bytes.toString('latin1')}`;
    expect(parts.slice(1, -1)).toEqual([
      part('100-199', image.subarray(100, 200)),
      part('4990-4999', image.subarray(4990)),
    ]);
  });

  test('a range past the end is refused with the size', async () => {
    const { status, headers } = await get(imagePath, { headers: { range: 'bytes=5000-' } });
    expect([status, headers['content-range']]).toEqual([416, 'bytes */5000']);
  });

  test('a range is honoured when If-Range names these bytes, and not when it names others', async () => {
    const range = 'bytes=0-9';
    expect((await get(imagePath, { headers: { range, 'if-range': etag } })).status).toBe(206);
    expect((await get(imagePath, { headers: { range, 'if-range': '"other"' } })).status).toBe(200);
  });

  test('who has these bytes is told so', async () => {
    expect((await get(imagePath, { headers: { 'if-none-match': `"x", ${etag}` } })).status).toBe(304);
  });

  test('sections of a unified image, with ranges of their own', async () => {
    expect((await get(`${imagePath}/sections/linux`)).body).toEqual(image.subarray(1000, 3000));
    expect((await get(`${imagePath}/sections/initrd`)).body).toEqual(image.subarray(3000, 3777));
    const part = await get(`${imagePath}/sections/initrd`, { headers: { range: 'bytes=700-' } });
    expect(part.body).toEqual(image.subarray(3700, 3777));
    expect(part.headers['content-range']).toBe('bytes 700-776/777');
  });

  test('an unknown digest is not found', async () => {
    const { status, body } = await get(`/images/sha256/${'00'.repeat(32)}`);
    expect([status, JSON.parse(body.toString()).error.code]).toEqual([404, 'NOT_FOUND']);
  });

  const other = 'cd'.repeat(32);
  const cached = (more: Partial<CachedImage>): CachedImage => ({
    digest: other,
    ref: 'a@1',
    state: 'ready',
    ...more,
  });

  test('one that is being pulled is worth waiting for', async () => {
    images.state = () => cached({ state: 'pulling', receivedBytes: 7 });
    const { status, headers, body } = await get(`/images/sha256/${other}`);
    expect([status, headers['retry-after']]).toEqual([503, '2']);
    expect(JSON.parse(body.toString()).error).toMatchObject({
      code: 'UNAVAILABLE',
      details: { reason: 'pulling', receivedBytes: 7 },
    });
  });

  test('one whose pull failed says why', async () => {
    const error = {
      code: 'CONFLICT',
      message: 'other bytes',
      details: { reason: 'digest-mismatch', expected: other, found: digest },
    } as const;
    images.state = () => cached({ state: 'failed', error });
    const { status, body } = await get(`/images/sha256/${other}`);
    expect(status).toBe(502);
    expect(JSON.parse(body.toString()).error).toMatchObject({ code: 'DRIVER_ERROR', details: error.details });
  });

  test("a BMC's medium is read by a token, in ranges, and nobody on the way keeps it", async () => {
    const token = 'a'.repeat(32);
    images.media.set(token, digest);
    const { status, body, headers } = await get(`/media/${token}.iso`, { headers: { range: 'bytes=10-19' } });
    expect([status, body]).toEqual([206, image.subarray(10, 20)]);
    expect(headers['cache-control']).toBe('private, no-store');
    expect((await get(`/media/${'b'.repeat(32)}.iso`)).status).toBe(404);
    images.media.delete(token);
    expect((await get(`/media/${token}.iso`)).status).toBe(404);
  });

  test('nothing stays open', async () => {
    await expect.poll(() => images.openImages).toBe(0);
  });
});

test('the length of an answer is named in the capitals that GRUB 2.12 looks for', async () => {
  const { hostname, port } = new URL(server.httpUrl);
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
    statuses.push((await get(target, { method, agent })).status);
  }
  expect(statuses).toEqual([200, 200, 404, 200, 404, 200]);
  expect(ports.size).toBe(1);
  agent.destroy();
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
  expect((await get('/healthz', { method })).status).toBe(400);
});

describe('starting', () => {
  test('without iPXE binaries the field and the remedy are named', async () => {
    const start = startBootServer({ ...options, ipxeDirectory: path.join(directory, 'missing') });
    await expect(start).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      details: { path: 'ipxeDirectory' },
      message: expect.stringContaining('railhead ipxe refresh'),
    });
    await expect(start).rejects.toBeInstanceOf(RailheadError);
  });

  test('on an interface that is not there it fails and leaves nothing bound', async () => {
    const port = Number(new URL(server.httpUrl).port) + 1;
    const second: BootNetwork = { ...loopback, mode: 'full', interface: 'nope0', address: '127.0.0.2' };
    const start = startBootServer({ ...options, httpPort: port, networks: [loopback, second] });
    await expect(start).rejects.toMatchObject({ code: 'ENODEV', network: second });
    const again = await startBootServer({ ...options, httpPort: port });
    await again.close();
  });

  test('each network has a listener at its own address, which a machine is sent back to', async () => {
    const networks: BootServerOptions['networks'] = [
      loopback,
      { ...loopback, mode: 'off', interface: 'none', address: '127.0.0.2' },
    ];
    const two = await startBootServer({ ...options, networks });
    onTestFinished(() => two.close());
    const url = two.httpUrlAt('127.0.0.2');
    expect(new URL(url).hostname).toBe('127.0.0.2');
    expect((await ask(url, '/boot.ipxe')).body.toString()).toContain(`${url}/ipxe?mac=`);
    expect(two.httpUrlAt('192.0.2.1')).toBe(two.httpUrl);
  });
});
