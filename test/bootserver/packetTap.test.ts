import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { openToolbox } from '#base/debian/toolbox.ts';
import { silentLog } from '#base/log.ts';
import { PacketTap, type SeenDatagram } from '#bootserver/packetTap.ts';
import { pcapHeader, pcapRecord } from '#bootserver/pcapFile.ts';
import { startTftpServer } from '#bootserver/tftp/server.ts';

const mac = '02:00:00:00:00:01';
const datagram = (payload: Buffer, port = 69): Omit<SeenDatagram, 'at'> => ({
  from: { address: '10.77.0.9', port: 2000 },
  to: { address: '10.77.0.1', port },
  payload,
});

test('a tap keeps the datagrams of the machine that is looked at, and of no other', () => {
  const tap = new PacketTap();
  expect(tap.isOn).toBe(false);
  tap.saw(mac, datagram(Buffer.from('before')));
  expect(tap.since(mac, 0)).toEqual({ datagrams: [], last: 0 });
  expect(tap.isOn).toBe(true);
  tap.saw(mac, datagram(Buffer.from('one')));
  tap.saw('02:00:00:00:00:02', datagram(Buffer.from('other')));
  tap.saw(mac, datagram(Buffer.from('two')));
  const payloads = (after: number) => tap.since(mac, after).datagrams.map(({ payload }) => String(payload));
  expect(payloads(0)).toEqual(['one', 'two']);
  expect(payloads(1)).toEqual(['two']);
  expect(tap.since(mac, 2)).toEqual({ datagrams: [], last: 2 });
});

test('it forgets the oldest beyond its bounds, and a machine that nobody asks for any more', () => {
  let now = 0;
  const tap = new PacketTap(() => now);
  tap.since(mac, 0);
  for (let index = 0; index < 300; index++) tap.saw(mac, datagram(Buffer.alloc(65_000, index)));
  const { datagrams, last } = tap.since(mac, 0);
  expect(last).toBe(300);
  expect(datagrams.length).toBeLessThan(262);
  expect(datagrams.at(-1)?.payload[0]).toBe(299 & 255);
  now = 61_000;
  tap.saw(mac, datagram(Buffer.from('late')));
  expect(tap.isOn).toBe(false);
  for (let index = 0; index < 20; index++) tap.since(`02:00:00:00:01:${10 + index}`, 0);
  tap.since('02:00:00:00:01:29', 0);
  expect(tap.since('02:00:00:00:01:10', 0).last).toBe(0);
});

// Here, since a new machine downloads it first: that is no test's time.
const toolbox = await openToolbox(['tcpdump'], { cacheDirectory: '.cache/debian' });

/** What tcpdump says of a capture file, a line a packet, checksums looked at. */
async function readByTcpdump(records: Buffer[], ...more: string[]): Promise<string[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-pcap-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = path.join(directory, 'trace.pcap');
  await writeFile(file, Buffer.concat([pcapHeader(), ...records]));
  const text = await toolbox.run('usr/bin/tcpdump', ['-nn', '-vv', '-t', ...more, '-r', file]);
  return text.split('\n');
}

test('tcpdump reads what a TFTP client and we said to each other', { timeout: 60_000 }, async () => {
  const tap = new PacketTap();
  tap.since(mac, 0);
  const server = await startTftpServer({
    address: '127.0.0.1',
    port: 0,
    files: new Map([['snponly.efi', Buffer.alloc(700, 'x')]]),
    limits: { blockSize: 1468, windowSize: 1 },
    report: () => {},
    tap: tap.byAddress((address) => (address === '127.0.0.1' ? mac : undefined)),
    log: silentLog(),
    clock: systemClock,
  });
  onTestFinished(() => server.close());
  const client = createSocket('udp4');
  onTestFinished(() => void client.close());
  client.send('\0\x01snponly.efi\0octet\0', server.port, '127.0.0.1');
  for (const block of [1, 2]) {
    const [, { port }] = (await once(client, 'message')) as [Buffer, { port: number }];
    client.send(Buffer.from([0, 4, 0, block]), port, '127.0.0.1');
  }
  await expect.poll(() => tap.since(mac, 0).last).toBe(5);
  const records = tap.since(mac, 0).datagrams.map(pcapRecord);
  const lines = await readByTcpdump(records, '-T', 'tftp');
  const said = lines.filter((line) => line.startsWith(' '));
  expect(said.map((line) => /(RRQ.*|DATA block \d|ACK block \d)/.exec(line)?.[0])).toEqual([
    expect.stringContaining('snponly.efi'),
    'DATA block 1',
    'ACK block 1',
    'DATA block 2',
    'ACK block 2',
  ]);
  const plain = (await readByTcpdump(records)).join('\n');
  expect(plain).not.toMatch(/bad (udp )?cksum/);
  expect(plain.match(/\[udp sum ok\]/g)?.length).toBeGreaterThanOrEqual(4);
});

test('tcpdump reads what was said over IPv6', { timeout: 60_000 }, async () => {
  const tap = new PacketTap();
  tap.since(mac, 0);
  const solicit = Buffer.from('01aabbcc0001000a00030001020000000001', 'hex');
  const [client, ours] = [
    { address: 'fe80::1%eth0', port: 546 },
    { address: 'fd77::1', port: 547 },
  ];
  tap.saw(mac, { from: client, to: { address: 'ff02::1:2', port: 547 }, payload: solicit });
  tap.saw(mac, { from: ours, to: client, payload: Buffer.concat([Buffer.from([2]), solicit.subarray(1)]) });
  const said = (await readByTcpdump(tap.since(mac, 0).datagrams.map(pcapRecord))).join('\n');
  expect(said).toMatch(/fe80::1\.546 > ff02::1:2\.547: \[udp sum ok\] dhcp6 solicit \(xid=aabbcc/);
  expect(said).toMatch(/fd77::1\.547 > fe80::1\.546: \[udp sum ok\] dhcp6 advertise \(xid=aabbcc/);
});

test('whose an address is, is not looked up for each datagram, and soon anew', () => {
  let now = 0;
  let looks = 0;
  const tap = new PacketTap(() => now);
  let holder: string | undefined;
  const byAddress = tap.byAddress(() => {
    looks++;
    return holder;
  });
  tap.since(mac, 0);
  for (let at = 0; at < 100; at++) byAddress.saw('10.77.0.9', datagram(Buffer.from('nobody')));
  expect(looks).toBe(1);
  [holder, now] = [mac, 200];
  for (let at = 0; at < 100; at++) byAddress.saw('10.77.0.9', datagram(Buffer.from('data')));
  expect([looks, tap.since(mac, 0).datagrams.length]).toEqual([2, 100]);
});
