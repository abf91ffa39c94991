import { describe, expect, test } from 'vitest';
import { type DhcpPacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import { messageType } from '#bootserver/dhcp/reply.ts';
import { Bench, network, optionOf } from './bench.ts';
import { clientMessage, clients, discover, rawOption, request } from './samples.ts';

const other = '10.77.0.9';

function proxyBench(mode: 'proxy' | '4011-only' | 'off' = 'proxy'): Bench {
  const bench = new Bench();
  bench.network = { ...network, mode };
  return bench;
}

const inform = (client: keyof typeof clients, ciaddr = '10.77.0.50'): DhcpPacket =>
  clientMessage({ messageType: messageType.inform }, clients[client], { ciaddr });
const booting = ['uefi64', 'bios', 'http64', 'arm64', 'ipxeFull', 'ipxeBare', 'ipxeOurs'] as const;

describe('a DISCOVER', () => {
  test.each(booting)('%s gets a file, our id, and nothing of an address', (client) => {
    const offer = proxyBench().reply(discover({}, clients[client]));
    expect(offer).toMatchObject({ yiaddr: '0.0.0.0', ciaddr: '0.0.0.0', siaddr: network.address });
    expect(optionOf(offer, 'messageType')).toBe(messageType.offer);
    expect(optionOf(offer, 'serverId')).toBe(network.address);
    for (const name of ['subnetMask', 'routers', 'dnsServers', 'leaseSeconds'] as const)
      expect(rawOption(offer, name)).toBeUndefined();
  });

  test('case 1: UEFI firmware’s option 97 comes back, and there is no option 43', () => {
    const offer = proxyBench().reply(discover({}, clients.uefi64));
    expect(rawOption(offer, 'machineId')).toBe(clients.uefi64[97]);
    expect(optionOf(offer, 'vendorClass')).toBe('PXEClient');
    expect(rawOption(offer, 'vendorSpecific')).toBeUndefined();
  });

  test('case 34: even the shortest offer has 300 bytes, zeros after its end', () => {
    const bytes = encodePacket(proxyBench().reply(discover({}, clients.ipxeOurs)));
    expect(bytes.length).toBeGreaterThanOrEqual(300);
    expect(bytes.subarray(bytes.lastIndexOf(255) + 1).every((byte) => byte === 0)).toBe(true);
  });

  test.each(['os', 'ramdisk'] as const)('%s is left to the other server', (client) => {
    expect(proxyBench().ask(discover({}, clients[client])).kind).toBe('silent');
  });

  test('an architecture without a boot file gets no offer', () => {
    const unknown = discover({ vendorClass: 'PXEClient:Arch:00255', architectures: [255] });
    expect(proxyBench().ask(unknown)).toMatchObject({
      kind: 'silent',
      reason: 'there is no boot file for it',
    });
  });

  test('leases nothing', () => {
    const bench = proxyBench();
    expect(bench.ask(discover({}, clients.uefi64)).changes).toEqual([]);
  });

  test('quirks of the machine and of the network hold together', () => {
    const bench = proxyBench();
    bench.network = { ...bench.network, quirks: { 'uefi-pxe': ['discovery-control'] } };
    bench.reserved.set('02:00:00:00:00:01', { quirks: { any: ['no-option-67'] } });
    const offer = bench.reply(discover({}, clients.uefi64));
    expect(rawOption(offer, 'vendorSpecific')).toBe('060108ff');
    expect(rawOption(offer, 'bootFile')).toBeUndefined();
    expect(offer.file).toBe('snponly.efi');
  });
});

describe('case 37: a REQUEST', () => {
  test.each([
    ['to the DHCP server', { serverId: other, requestedAddress: '10.77.0.50' }, {}],
    ['that names us', { serverId: network.address, requestedAddress: '0.0.0.0' }, {}],
    ['of a client that restarts', { requestedAddress: '10.77.0.50' }, {}],
    ['of a client that renews', {}, { ciaddr: '10.77.0.50' }],
    ['for an address of nowhere', { requestedAddress: '192.0.2.1' }, {}],
  ])('%s is met by silence, never by a NAK', (_, values, header) => {
    for (const client of ['uefi64', 'bios', 'os'] as const)
      expect(proxyBench().ask(request(values, clients[client], header)).kind).toBe('silent');
  });
});

describe('an INFORM', () => {
  test('of firmware is told the same as a DISCOVER', () => {
    const ack = proxyBench().reply(inform('uefi64'));
    const offer = proxyBench().reply(discover({}, clients.uefi64));
    expect(ack).toMatchObject({ ciaddr: '10.77.0.50', yiaddr: '0.0.0.0', file: offer.file });
    expect(optionOf(ack, 'messageType')).toBe(messageType.ack);
  });

  test('of a ramdisk is told the site', () => {
    expect(optionOf(proxyBench().reply(inform('ramdisk')), 'site')).toBe(network.machineUrl);
  });

  test('of another client, or without an address, is left alone', () => {
    expect(proxyBench().ask(inform('os')).kind).toBe('silent');
    expect(proxyBench().ask(inform('uefi64', '0.0.0.0')).kind).toBe('silent');
  });
});

test.each(['4011-only', 'off'] as const)('in mode %s nothing on port 67 is answered', (mode) => {
  for (const client of booting) {
    expect(proxyBench(mode).ask(discover({}, clients[client])).kind).toBe('silent');
    expect(proxyBench(mode).ask(request({ serverId: other }, clients[client])).kind).toBe('silent');
  }
});

test('a machine in a loop gets no offer, with the reason', () => {
  const bench = proxyBench();
  bench.isLooping = true;
  expect(bench.ask(discover({}, clients.uefi64))).toMatchObject({
    kind: 'silent',
    reason: 'it is in a loop',
  });
});
