import { expect, test } from 'vitest';
import type { DhcpNetwork } from '#bootserver/dhcp/network.ts';
import { networkOf } from '#bootserver/dhcp/networkOf.ts';
import { network as own } from './bench.ts';
import { discover, request } from './samples.ts';

const far: DhcpNetwork = { ...own, subnet: { address: '10.79.0.0', prefixLength: 24 } };
const farther: DhcpNetwork = { ...own, subnet: { address: '10.80.0.0', prefixLength: 24 } };
const networks = [own, far, farther];
const relay = { giaddr: '10.79.0.1' };
const linkFarther = { 82: '010301020305040a500000' };

test.each([
  ['on the wire of the interface', discover(), own],
  ['behind the relay that forwards', discover({}, {}, relay), far],
  ['behind a relay of a network that is not ours', discover({}, {}, { giaddr: '192.0.2.1' }), undefined],
  ['on the link that the relay selects (RFC 3527)', discover({}, linkFarther, relay), farther],
  [
    'on a link that is selected and not ours: the relay is not asked',
    discover({}, { 82: '0504c0000201' }, relay),
    undefined,
  ],
  [
    'where the client behind a relay selects a subnet (RFC 3011)',
    discover({ subnetSelection: '10.80.0.0' }, {}, relay),
    farther,
  ],
  [
    'on the wire, whatever it says of other links',
    discover({ subnetSelection: '10.80.0.0' }, linkFarther),
    own,
  ],
  ['where its address is, when it renews past its relay', request({}, {}, { ciaddr: '10.79.0.50' }), far],
  ['on the wire, with an address from elsewhere', request({}, {}, { ciaddr: '192.0.2.50' }), own],
  ['behind the relay, though its sub-options run past the end', discover({}, { 82: '0509' }, relay), far],
])('a client is %s', (_, packet, expected) => {
  expect(networkOf(packet, networks)).toBe(expected);
});
