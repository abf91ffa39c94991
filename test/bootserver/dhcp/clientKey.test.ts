import { expect, test } from 'vitest';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { ethernetKey, macOfKey } from '#bootserver/dhcp/clientKey.ts';
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
