import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import { startTftpServer, type TftpServer, type TftpServerOptions } from '#bootserver/tftp/server.ts';
import type { TransferReport } from '#bootserver/tftp/session.ts';
import { ack, content, errorPacket, readRequest, describe as said } from './samples.ts';

const loader = content(5000);
let server: TftpServer;
let reports: TransferReport[];
let sockets: Socket[];

beforeEach(async () => {
  reports = [];
  sockets = [];
  server = await startTftpServer(options());
});

function options(): TftpServerOptions {
  return {
    address: '127.0.0.1',
    port: 0,
    files: new Map([
      ['snponly.efi', loader],
      ['efi/shimx64.efi', Buffer.from('shim')],
      ['menu.cfg', Buffer.from('one\ntwo\r\n')],
    ]),
    limits: { blockSize: 1468, windowSize: 32 },
    report: (report) => reports.push(report),
    log: silentLog(),
    clock: systemClock,
  };
}

afterEach(async () => {
  for (const socket of sockets) socket.close();
  await server.close();
});

class Client {
  readonly #socket: Socket;
  readonly #waiting: { datagram: Buffer; from: RemoteInfo }[] = [];
  transferPort = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (datagram, from) => this.#waiting.push({ datagram, from }));
  }

  ask(request: Buffer): void {
    this.#socket.send(request, server.port, '127.0.0.1');
  }

  answer(datagram: Buffer): void {
    this.#socket.send(datagram, this.transferPort, '127.0.0.1');
  }

  /** The next datagram of the server, in words. */
  async next(): Promise<string> {
    return said((await this.nextDatagram()).datagram);
  }

  async nextDatagram(): Promise<{ datagram: Buffer; from: RemoteInfo }> {
    while (this.#waiting.length === 0) await once(this.#socket, 'message');
    const next = this.#waiting.shift()!;
    this.transferPort = next.from.port;
    return next;
  }

  get waiting(): string[] {
    return this.#waiting.map(({ datagram }) => said(datagram));
  }
}

async function newClient(address = '127.0.0.1'): Promise<Client> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  socket.bind(0, address);
  await once(socket, 'listening');
  return new Client(socket);
}

/** An exchange that is over when it returns: whatever was sent before has been handled by the server. */
async function settle(): Promise<void> {
  const probe = await newClient();
  probe.ask(readRequest('nothing'));
  await probe.next();
}

// case 39
test('OVMF: a probe for the size, ERROR 8, and then the download from another port', async () => {
  const probe = await newClient();
  probe.ask(readRequest('snponly.efi', { tsize: '0', blksize: '1468' }));
  expect(await probe.next()).toBe('OACK tsize 5000 blksize 1468');
  probe.answer(errorPacket(8, 'User aborted the transfer'));
  const client = await newClient();
  client.ask(readRequest('snponly.efi', { blksize: '1468' }));
  expect(await client.next()).toBe('OACK blksize 1468');
  const received: Buffer[] = [];
  for (let block = 0; block < 4; block++) {
    client.answer(ack(block));
    received.push((await client.nextDatagram()).datagram.subarray(4));
  }
  client.answer(ack(4));
  await expect.poll(() => reports.map(({ outcome }) => outcome)).toEqual(['probed', 'complete']);
  expect(Buffer.concat(received)).toEqual(loader);
  expect(probe.waiting).toEqual([]);
});

test('an abort with code 0 before any data is a probe too, and one in the middle is not', async () => {
  const probe = await newClient();
  probe.ask(readRequest('snponly.efi', { tsize: '0' }));
  await probe.next();
  probe.answer(errorPacket(0, 'TFTP Aborted'));
  const client = await newClient();
  client.ask(readRequest('snponly.efi'));
  await client.next();
  client.answer(ack(1));
  await client.next();
  client.answer(errorPacket(0, 'TFTP Aborted'));
  await expect.poll(() => reports.map(({ outcome }) => outcome).toSorted()).toEqual(['abandoned', 'probed']);
});

describe('what is asked for', () => {
  test('an unknown file is refused at once', async () => {
    const client = await newClient();
    client.ask(readRequest('autoexec.ipxe', { blksize: '1432', tsize: '0' }));
    expect(await client.next()).toBe('ERROR 1');
  });

  test.each(['/snponly.efi', '//snponly.efi', '\\snponly.efi', 'efi/shimx64.efi', 'efi\\shimx64.efi'])(
    '%s is found',
    async (name) => {
      const client = await newClient();
      client.ask(readRequest(name));
      expect(await client.next()).toBe('DATA 1');
    },
  );

  test('a climbing name is an unknown file', async () => {
    const client = await newClient();
    client.ask(readRequest('../etc/passwd'));
    expect(await client.next()).toBe('ERROR 1');
  });

  test('unknown options alone bring DATA, not an empty OACK', async () => {
    const client = await newClient();
    client.ask(readRequest('snponly.efi', { foo: '1' }));
    expect(await client.next()).toBe('DATA 1');
  });

  test('writing is refused', async () => {
    const client = await newClient();
    client.ask(Buffer.from('\0\x02x\0octet\0'));
    expect(await client.next()).toBe('ERROR 2');
  });

  test('in text mode lines end as on the network, and the size is that of what is sent', async () => {
    const client = await newClient();
    client.ask(readRequest('menu.cfg', { tsize: '0' }, 'NETASCII'));
    expect(await client.next()).toBe('OACK tsize 12');
    client.answer(ack(0));
    expect((await client.nextDatagram()).datagram.subarray(4).toString()).toBe('one\r\ntwo\r\0\r\n');
  });

  test.each(['mail', 'image'])('mode %s is refused in a word', async (mode) => {
    const client = await newClient();
    client.ask(readRequest('snponly.efi', {}, mode));
    expect(await client.next()).toBe('ERROR 4');
  });
});

test('a repeated request of one transfer brings its OACK again, and no second transfer', async () => {
  const client = await newClient();
  client.ask(readRequest('snponly.efi', { tsize: '0' }));
  await client.next();
  const { transferPort } = client;
  client.ask(readRequest('snponly.efi', { tsize: '0' }));
  expect(await client.next()).toBe('OACK tsize 5000');
  expect(client.transferPort).toBe(transferPort);
});

test('a ROM that uses one port for every file gets the next one as soon as it asks', async () => {
  const client = await newClient();
  client.ask(readRequest('snponly.efi'));
  expect(await client.next()).toBe('DATA 1');
  client.answer(ack(1));
  expect(await client.next()).toBe('DATA 2');
  client.ask(readRequest('efi/shimx64.efi'));
  expect((await client.nextDatagram()).datagram.subarray(4).toString()).toBe('shim');
});

test('a first block that was lost comes again with the repeated request', async () => {
  const client = await newClient();
  client.ask(readRequest('snponly.efi'));
  await client.next();
  client.ask(readRequest('snponly.efi'));
  expect(await client.next()).toBe('DATA 1');
});

test('a client that asks without end is met by silence after a while, and another is not held back', async () => {
  const busy = await newClient('127.0.0.2');
  for (let asked = 0; asked < 300; asked++) {
    busy.ask(readRequest('nothing'));
    // Socket buffers hold some hundred datagrams.
    if (asked % 50 === 49) await settle();
  }
  expect(busy.waiting.length).toBeGreaterThan(150);
  expect(busy.waiting.length).toBeLessThan(250);
});

test('requests from made-up addresses push each other out, and a machine that boots keeps its transfer', async () => {
  const machine = await newClient('127.0.0.3');
  machine.ask(readRequest('snponly.efi', { tsize: '0' }));
  await machine.next();
  machine.answer(ack(0));
  await machine.next();
  // 127.1.0.0/16 is ours as well: each of 1,200 clients is one address.
  const crowd = await Promise.all(
    Array.from({ length: 1200 }, (_, at) => newClient(`127.1.${at >> 8}.${at & 255 || 255}`)),
  );
  for (const [at, one] of crowd.entries()) {
    one.ask(readRequest('snponly.efi'));
    if (at % 50 === 49) await settle();
  }
  const late = await newClient('127.0.0.4');
  late.ask(readRequest('snponly.efi'));
  expect(await late.next()).toBe('DATA 1');
  machine.answer(ack(1));
  // DATA 1 may have come again meanwhile.
  await expect.poll(() => machine.waiting.at(-1)).toBe('DATA 2');
});

test('over IPv6 the same', async () => {
  const overIpv6 = await startTftpServer({
    ...options(),
    address: '::1',
    limits: { blockSize: 1448, windowSize: 32 },
  });
  const socket = createSocket('udp6');
  sockets.push(socket);
  socket.send(readRequest('efi/shimx64.efi', { blksize: '1468' }), overIpv6.port, '::1');
  const [first, from] = (await once(socket, 'message')) as [Buffer, RemoteInfo];
  expect(said(first)).toBe('OACK blksize 1448');
  socket.send(ack(0), from.port, '::1');
  const [second] = (await once(socket, 'message')) as [Buffer];
  expect(second.subarray(4).toString()).toBe('shim');
  await overIpv6.close();
});

test('a stranger’s datagram in a transfer is refused with ERROR 5, and the transfer goes on', async () => {
  const client = await newClient();
  client.ask(readRequest('snponly.efi'));
  await client.next();
  const stranger = await newClient();
  stranger.transferPort = client.transferPort;
  stranger.answer(ack(1));
  expect(await stranger.next()).toBe('ERROR 5');
  client.answer(ack(1));
  expect(await client.next()).toBe('DATA 2');
});

test('a datagram without a transfer is refused at the main port', async () => {
  const client = await newClient();
  client.ask(ack(7));
  expect(await client.next()).toBe('ERROR 5');
});

test('garbage is met by silence', async () => {
  const client = await newClient();
  client.ask(Buffer.from('ffff', 'hex'));
  await settle();
  expect(client.waiting).toEqual([]);
});

test('a client that never answers is sent the same block again', async () => {
  const client = await newClient();
  client.ask(readRequest('snponly.efi'));
  expect([await client.next(), await client.next()]).toEqual(['DATA 1', 'DATA 1']);
});

test('one client has eight transfers at a time, and the ninth is dropped', async () => {
  const clients = await Promise.all(Array.from({ length: 8 }, newClient));
  for (const client of clients) client.ask(readRequest('snponly.efi'));
  await Promise.all(clients.map((client) => client.next()));
  for (const client of clients) client.answer(ack(1));
  await Promise.all(clients.map((client) => client.next()));
  const ninth = await newClient();
  ninth.ask(readRequest('snponly.efi'));
  await settle();
  expect(ninth.waiting).toEqual([]);
  clients[0]?.answer(errorPacket(0, 'done'));
  await expect.poll(() => reports.length).toBe(1);
  ninth.ask(readRequest('snponly.efi'));
  expect(await ninth.next()).toBe('DATA 1');
});

test('transfers that somebody asked for in the name of a machine, and never answered, make room for its own', async () => {
  const forged = await Promise.all(Array.from({ length: 8 }, newClient));
  for (const client of forged) client.ask(readRequest('snponly.efi'));
  await Promise.all(forged.map((client) => client.next()));
  const machine = await newClient();
  machine.ask(readRequest('snponly.efi'));
  expect(await machine.next()).toBe('DATA 1');
});

test('a request without a name, and one without a mode, get an ERROR at once', async () => {
  const client = await newClient();
  client.ask(Buffer.from('0001006f6374657400', 'hex'));
  expect(await client.next()).toMatch(/^ERROR 1/);
  client.ask(Buffer.concat([Buffer.from([0, 1]), Buffer.from('snponly.efi\0')]));
  expect(await client.next()).toMatch(/^ERROR 4/);
});

test('closing ends transfers that run', async () => {
  const client = await newClient();
  client.ask(readRequest('snponly.efi'));
  await client.next();
  await server.close();
  server = await startTftpServer({
    address: '127.0.0.1',
    port: 0,
    files: new Map(),
    limits: { blockSize: 512, windowSize: 1 },
    report: () => {},
    log: silentLog(),
    clock: systemClock,
  });
  expect(reports).toEqual([]);
});
