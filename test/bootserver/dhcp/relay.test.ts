import { describe, expect, test } from 'vitest';
import { replyDestination } from '#bootserver/dhcp/destination.ts';
import type { DhcpNetwork } from '#bootserver/dhcp/network.ts';
import { encodePacket } from '#bootserver/dhcp/packet.ts';
import { messageType } from '#bootserver/dhcp/reply.ts';
import { Bench, network, optionOf } from './bench.ts';
import { clientMessage, clients, discover, request } from './samples.ts';

const far: DhcpNetwork = {
  ...network,
  subnet: { address: '10.79.0.0', prefixLength: 24 },
  pool: { first: '10.79.0.100', last: '10.79.0.101' },
  router: '10.79.0.1',
};
const relay = { giaddr: '10.79.0.1', flags: 0x8000 };
const option82 = { 82: '0104000000050206aabbccddeeff' };
const serverId = network.address;

function bench(): Bench {
  const bench = new Bench();
  bench.restart([network, far]);
  return bench;
}

test('case 30, 33: the answer goes to the relay’s port 67, with the flags that came, whatever they say', () => {
  const reply = bench().reply(discover({}, clients.uefi64, relay));
  expect(replyDestination(reply)).toEqual({ address: '10.79.0.1', port: 67 });
  expect(reply).toMatchObject({ giaddr: '10.79.0.1', flags: 0x8000, xid: 0x1234abcd });
  expect(reply.yiaddr).toMatch(/^10\.79\.0\.10[01]$/);
  expect(optionOf(reply, 'routers')).toEqual(['10.79.0.1']);
  expect(bench().reply(discover({}, {}, { giaddr: '10.79.0.1' })).flags).toBe(0);
});

describe('case 32: relay information comes back as it was, last', () => {
  const bytesOf = (packet: ReturnType<Bench['reply']>) => {
    const bytes = encodePacket(packet);
    return bytes.subarray(240, bytes.lastIndexOf(255) + 1).toString('hex');
  };

  test('in an OFFER and an ACK', () => {
    const one = bench();
    const offer = one.reply(discover({}, option82, relay));
    expect(bytesOf(offer)).toMatch(/520e0104000000050206aabbccddeeffff$/);
    const values = { serverId, requestedAddress: offer.yiaddr };
    expect(bytesOf(one.reply(request(values, option82, relay)))).toMatch(/520e0104.*ffff$/);
  });

  test('in a refusal, which the relay shall broadcast', () => {
    const values = { serverId, requestedAddress: '10.79.0.77' };
    const nak = bench().reply(request(values, option82, { giaddr: '10.79.0.1' }));
    expect(optionOf(nak, 'messageType')).toBe(messageType.nak);
    expect(nak.flags).toBe(0x8000);
    expect(bytesOf(nak)).toMatch(/520e0104.*ffff$/);
  });
});

test('a machine renews at us directly, past its relay', () => {
  const one = bench();
  const { yiaddr } = one.reply(discover({}, {}, relay));
  one.reply(request({ serverId, requestedAddress: yiaddr }, {}, relay));
  const ack = one.reply(request({}, {}, { ciaddr: yiaddr }));
  expect(ack).toMatchObject({ yiaddr, ciaddr: yiaddr });
  expect(replyDestination(ack)).toEqual({ address: yiaddr, port: 68 });
});

test('one machine has an address in each network that it is seen in', () => {
  const one = bench();
  expect(one.reply(discover()).yiaddr).toMatch(/^10\.77\./);
  expect(one.reply(discover({}, {}, relay)).yiaddr).toMatch(/^10\.79\./);
  expect(one.leases.ofClient('1/02:00:00:00:00:01')?.address).toMatch(/^10\.77\./);
});

test('a machine that was moved behind the relay and wants its former address is refused', () => {
  const values = { messageType: messageType.request, requestedAddress: '10.77.0.100' };
  expect(bench().ask(clientMessage(values, {}, relay))).toMatchObject({ what: 'NAK' });
});

test('a subnet that the client selects is told back (RFC 3011)', () => {
  expect(optionOf(bench().reply(discover({ subnetSelection: '10.79.0.9' })), 'subnetSelection')).toBe(
    '10.79.0.9',
  );
});

test('InfiniBand: a client without a hardware address is known by its identifier', () => {
  const header = { htype: 32, hlen: 0 };
  const one = bench();
  const [first, second] = [{ 61: 'ff00000001' }, { 61: 'ff00000002' }].map(
    (id) => one.reply(discover({}, id, header)).yiaddr,
  );
  expect(first).not.toBe(second);
  expect(one.reply(discover({}, { 61: 'ff00000001' }, header)).yiaddr).toBe(first);
});
