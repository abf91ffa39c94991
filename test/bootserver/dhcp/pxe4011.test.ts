import { describe, expect, test } from 'vitest';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import type { DhcpPacket } from '#bootserver/dhcp/packet.ts';
import { type BootServerDecision, decideOn4011, destinationOn4011 } from '#bootserver/dhcp/pxe4011.ts';
import { messageType } from '#bootserver/dhcp/reply.ts';
import type { BootQuirk } from '#contract/bootQuirks.ts';
import { network, optionOf } from './bench.ts';
import { clientMessage, clients, discover, type RawOptions, rawOption, request } from './samples.ts';

function decide(packet: DhcpPacket, ...quirks: BootQuirk[]): BootServerDecision {
  return decideOn4011(packet, clientFacts(packet), {
    network: { ...network, mode: '4011-only', quirks: { any: quirks } },
    reservations: { reservation: () => undefined, isReserved: () => false },
    loaderGiven: false,
  });
}

function ack(packet: DhcpPacket, ...quirks: BootQuirk[]): DhcpPacket {
  const decision = decide(packet, ...quirks);
  if ('silent' in decision) throw new Error(decision.silent);
  return decision.reply;
}

const ask = (raw: RawOptions, values = {}) => request(values, raw, { ciaddr: '10.77.0.50' });

describe('case 3: a REQUEST whose conversation with the DHCP server was never seen', () => {
  test.each([
    ['uefi64', 'snponly.efi'],
    ['arm64', 'ipxe-arm64.efi'],
    ['bios', 'undionly.kpxe'],
    ['ipxeFull', 'http://10.77.0.1:8080/boot.ipxe'],
  ] as const)('%s is told server and file', (client, file) => {
    const reply = ack(ask(clients[client]));
    expect(reply).toMatchObject({ file, siaddr: network.address, yiaddr: '0.0.0.0', ciaddr: '10.77.0.50' });
    expect(optionOf(reply, 'messageType')).toBe(messageType.ack);
    expect(optionOf(reply, 'serverId')).toBe(network.address);
    expect(optionOf(reply, 'vendorClass')).toBe('PXEClient');
    expect(optionOf(reply, 'bootFile')).toBe(file);
  });

  test('is answered whatever server it names', () => {
    expect(ack(ask(clients.uefi64, { serverId: '10.77.0.9' })).file).toBe('snponly.efi');
  });
});

describe('case 5', () => {
  test('an INFORM is answered like a REQUEST', () => {
    const inform = clientMessage({ messageType: messageType.inform }, clients.uefi64, {
      ciaddr: '10.77.0.50',
    });
    expect(ack(inform).file).toBe('snponly.efi');
  });

  test.each([messageType.discover, messageType.decline, messageType.release, messageType.ack, 99])(
    'message type %i is ignored',
    (type) => {
      expect(decide(clientMessage({ messageType: type }, clients.uefi64))).toHaveProperty('silent');
    },
  );

  test('a reply of a server is ignored', () => {
    expect(decide(discover({}, clients.uefi64, { op: 2 }))).toHaveProperty('silent');
  });

  test('a client that does not boot from the network is ignored', () => {
    expect(decide(ask(clients.os))).toHaveProperty('silent');
  });
});

describe('case 8: a ROM without option 97 that asks for a boot item', () => {
  const rom = { ...clients.bios, 43: '470480000000ff' } as RawOptions;
  delete rom[97];

  test('gets no option 97, and its item back', () => {
    const reply = ack(ask(rom));
    expect(rawOption(reply, 'machineId')).toBeUndefined();
    expect(rawOption(reply, 'vendorSpecific')).toBe('060108470480000000ff');
  });

  test('gets no item where it dislikes that', () => {
    expect(rawOption(ack(ask(rom), 'no-boot-item'), 'vendorSpecific')).toBe('060108ff');
  });

  test('is not answered when it wants credentials', () => {
    expect(decide(ask({ ...rom, 43: '470400008000ff' }))).toMatchObject({ trouble: 'boot-integrity' });
  });

  test.each([16, 18])('an option 97 of %i bytes is ignored, the machine is not', (length) => {
    const reply = ack(ask({ ...rom, 97: '00'.repeat(length) }));
    expect(reply.file).toBe('undionly.kpxe');
    expect(rawOption(reply, 'machineId')).toBeUndefined();
  });

  test('an option 97 of 17 bytes comes back', () => {
    expect(rawOption(ack(ask(clients.bios)), 'machineId')).toBe(clients.bios[97]);
  });
});

describe('an answer goes back to whom it came from', () => {
  const packet = ask(clients.uefi64);

  test.each([68, 4011])('port %i', (port) => {
    expect(destinationOn4011(packet, { address: '10.77.0.50', port })).toMatchObject({
      address: '10.77.0.50',
      port,
    });
  });

  test('that has not yet its address as a source', () => {
    expect(destinationOn4011(packet, { address: '0.0.0.0', port: 68 })).toEqual({
      address: '10.77.0.50',
      port: 68,
    });
    const without = { ...packet, ciaddr: '0.0.0.0' };
    expect(destinationOn4011(without, { address: '0.0.0.0', port: 68 }).address).toBe('255.255.255.255');
  });
});
