import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { sendDatagrams } from '#base/udp/sendDatagrams.ts';
import { socketAddress } from '#base/udp/socketAddress.ts';
import { openTransferSocket } from '#base/udp/transferSocket.ts';

const open: Socket[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

function opened(socket: Socket): Socket {
  open.push(socket);
  return socket;
}

/** What `count` datagrams from a transfer socket on `address` are when they arrive, and where they come from. */
async function arrive(
  address: string,
  datagrams: Buffer[],
): Promise<{ received: Buffer[]; from: RemoteInfo }> {
  const type = address.includes(':') ? 'udp6' : 'udp4';
  const receiver = opened(createSocket(type));
  receiver.bind(0, address);
  await once(receiver, 'listening');
  const fd = openTransferSocket(address);
  const sender = opened(createSocket(type));
  sender.bind({ fd });
  const received: Buffer[] = [];
  let from: RemoteInfo | undefined;
  receiver.on('message', (bytes, remote) => {
    received.push(bytes);
    from = remote;
  });
  sendDatagrams(fd, socketAddress(address, receiver.address().port), datagrams);
  await expect.poll(() => received.length).toBe(datagrams.length);
  expect(from?.port).toBe(sender.address().port);
  return { received, from: from! };
}

test.each(['127.0.0.1', '::1'])(
  'datagrams arrive in order, from the address that they were sent from: %s',
  async (address) => {
    const datagrams = Array.from({ length: 70 }, (_, at) => Buffer.alloc(at * 20, at));
    const { received, from } = await arrive(address, datagrams);
    expect(received).toEqual(datagrams);
    expect(from.address).toBe(address);
  },
);

test('datagrams of one length, the last one shorter, arrive as they were', async () => {
  const datagrams = Array.from({ length: 37 }, (_, at) => Buffer.alloc(at === 36 ? 9 : 1472, at));
  expect((await arrive('127.0.0.1', datagrams)).received).toEqual(datagrams);
});

test('one that is larger than a packet is a mistake of the caller', () => {
  const fd = openTransferSocket('127.0.0.1');
  opened(createSocket('udp4')).bind({ fd });
  expect(() => sendDatagrams(fd, socketAddress('127.0.0.1', 9), [Buffer.alloc(2000)])).toThrow(RangeError);
});

test('an address that is not this host’s cannot be had', () => {
  expect(() => openTransferSocket('192.0.2.1')).toThrow(expect.objectContaining({ code: 'EADDRNOTAVAIL' }));
});

test.each([
  ['10.77.0.1', 69, '020000450a4d00010000000000000000'],
  ['fd99::1', 69, '0a00004500000000fd99000000000000000000000000000100000000'],
  ['::ffff:10.0.0.1', 1, '0a0000010000000000000000000000000000ffff0a00000100000000'],
  ['fe80::1%3', 1, '0a00000100000000fe80000000000000000000000000000103000000'],
])('%s port %i is %s to the kernel', (address, port, hex) => {
  expect(socketAddress(address, port).toString('hex')).toBe(hex);
});
