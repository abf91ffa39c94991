import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import { Boots } from '#bootserver/boots.ts';
import { type DhcpPacket, decodePacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import { type Server4011, startServer4011 } from '#bootserver/dhcp/server4011.ts';
import { openHeardAddresses } from '#bootserver/heardAddresses.ts';
import type { BootEvent } from '#bootserver/machine.ts';
import { PacketTap } from '#bootserver/packetTap.ts';
import { network } from './bench.ts';
import { clients, discover, hardware, request } from './samples.ts';

const mac = '02:00:00:00:00:01';
const events: BootEvent[] = [];
const heard = openHeardAddresses({
  database: new Database(':memory:'),
  log: silentLog(),
  isNamed: () => false,
});
const boots = new Boots((event) => events.push(event), systemClock);
const tap = new PacketTap();
let server: Server4011;
let client: Socket;

beforeAll(async () => {
  server = await startServer4011({
    address: '127.0.0.1',
    port: 0,
    networks: [{ ...network, mode: '4011-only' }],
    reservations: { reservation: () => undefined, isReserved: () => false },
    boots,
    heard,
    tap,
    log: silentLog(),
  });
  client = createSocket('udp4');
  client.bind(0, '127.0.0.1');
  await once(client, 'listening');
});

afterAll(async () => {
  client.close();
  await server.close();
});

beforeEach(() => {
  events.length = 0;
});

/** The next answer, and the port that it came from. */
async function answer(): Promise<{ reply: DhcpPacket; from: number }> {
  const [bytes, from] = (await once(client, 'message')) as [Buffer, { port: number }];
  const reply = decodePacket(bytes);
  if ('malformed' in reply) throw new Error(reply.malformed);
  return { reply, from: from.port };
}

function send(packet: DhcpPacket | Buffer): void {
  client.send(Buffer.isBuffer(packet) ? packet : encodePacket(packet), server.port, '127.0.0.1');
}

const asking = () => request({}, clients.uefi64, { ciaddr: '127.0.0.1' });

describe('port 4011', () => {
  test('answers from itself, since iPXE drops what comes from elsewhere, to the port that asked', async () => {
    send(asking());
    const { reply, from } = await answer();
    expect(from).toBe(server.port);
    expect(reply).toMatchObject({ file: 'snponly.efi', siaddr: network.address });
  });

  test('is the first to hear of a machine: its boot begins, and its address is known', async () => {
    send(asking());
    await answer();
    expect(events).toMatchObject([
      { mac, type: 'boot.dhcp', text: 'ACK from port 4011, snponly.efi (uefi-pxe)' },
    ]);
    expect(heard.macAt('127.0.0.1')).toBe(mac);
  });

  test('who looks at the machine sees question and answer, each with its two ends', async () => {
    tap.since(mac, 0);
    send(asking());
    const { reply } = await answer();
    const { datagrams } = tap.since(mac, 0);
    const [ours, its] = [
      { address: '127.0.0.1', port: 4011 },
      { address: '127.0.0.1', port: client.address().port },
    ];
    expect(datagrams.map(({ from, to }) => ({ from, to }))).toEqual([
      { from: its, to: ours },
      { from: ours, to: its },
    ]);
    expect(datagrams[1]?.payload).toEqual(encodePacket(reply));
  });

  test('a DISCOVER and bytes that are no message are passed over, and the next REQUEST is answered', async () => {
    send(discover({}, clients.uefi64));
    send(Buffer.from('no message'));
    send(Buffer.alloc(1500, 255));
    send({ ...asking(), xid: 7 });
    expect((await answer()).reply.xid).toBe(7);
  });

  test('an address that the message did not come from, or that a relay passed on, is not believed', async () => {
    const stolen = hardware('02:00:00:00:00:07');
    send(request({}, clients.uefi64, { chaddr: stolen, ciaddr: '127.0.0.9' }));
    await answer();
    send(request({}, clients.uefi64, { chaddr: stolen, ciaddr: '127.0.0.1', giaddr: '127.0.0.3' }));
    await answer();
    expect([heard.macAt('127.0.0.9'), heard.macAt('127.0.0.1')]).toEqual([undefined, mac]);
  });

  test('a client that floods is answered no more often than a client needs', async () => {
    const flooding = request({}, clients.uefi64, {
      chaddr: hardware('02:00:00:00:00:08'),
      ciaddr: '127.0.0.1',
    });
    for (let at = 0; at < 60; at++) send(flooding);
    send({ ...asking(), xid: 9 });
    let answers = 1;
    while ((await answer()).reply.xid !== 9) answers++;
    expect(answers).toBeLessThanOrEqual(30 + 1);
    expect(events.length).toBeLessThanOrEqual(30 + 1);
  });

  test('what is refused is counted', async () => {
    const before = boots.troubles.of('boot-integrity');
    send(request({}, { ...clients.bios, 43: '470400008000ff' }, { ciaddr: '127.0.0.1' }));
    send({ ...asking(), xid: 8 });
    await answer();
    expect(boots.troubles.of('boot-integrity')).toBe(before + 1);
  });
});
