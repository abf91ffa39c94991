import { expect, test } from 'vitest';
import { clientFacts, peekClientKey } from '#bootserver/dhcp/client.ts';
import { ethernetKey, macOfKey } from '#bootserver/dhcp/clientKey.ts';
import { encodePacket } from '#bootserver/dhcp/packet.ts';
import { discover } from './samples.ts';

const mac = '02:00:00:00:00:01';

test.each([
  ['Ethernet', {}, mac],
  ['IEEE 802 (type 6) with the same six bytes', { htype: 6 }, undefined],
  ['InfiniBand', { htype: 32 }, undefined],
  ['Ethernet with too long an address', { hlen: 8 }, undefined],
])('%s', (_, header, known) => {
  const { key, mac: said } = clientFacts(discover({}, {}, header));
  expect(macOfKey(key)).toBe(known);
  expect(said).toBe(known);
});

test('no client identifier passes for an Ethernet address', () => {
  const header = { hlen: 0, chaddr: Buffer.alloc(16) };
  expect(macOfKey(clientFacts(discover({ clientId: Buffer.from('1/') }, {}, header)).key)).toBeUndefined();
  expect(macOfKey(ethernetKey(mac))).toBe(mac);
  expect(macOfKey(undefined)).toBeUndefined();
});

test('two clients without hardware addresses are two before they are decoded, too', () => {
  const header = { htype: 32, hlen: 0, chaddr: Buffer.alloc(16) };
  for (const last of [1, 2]) {
    const packet = discover({ clientId: Buffer.from([0xff, 0, 0, 0, last]) }, {}, header);
    expect(peekClientKey(encodePacket(packet))).toBe(`id/ff0000000${last}`);
    expect(clientFacts(packet).key).toBe(`id/ff0000000${last}`);
  }
  expect(peekClientKey(encodePacket(discover({}, {}, header)))).toBe('id/');
});
