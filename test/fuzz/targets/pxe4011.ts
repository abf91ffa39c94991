import assert from 'node:assert/strict';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { type DhcpPacket, decodePacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import { proxyDiscover } from '#bootserver/dhcp/proxy.ts';
import { decideOn4011, destinationOn4011 } from '#bootserver/dhcp/pxe4011.ts';
import { clients, request } from '../../bootserver/dhcp/samples.ts';
import type { FuzzTarget } from '../target.ts';

const network = {
  mode: 'proxy',
  subnet: { address: '10.77.0.0', prefixLength: 24 },
  address: '10.77.0.1',
  leaseSeconds: 600,
  httpUrl: 'http://10.77.0.1:8080',
  machineUrl: 'https://10.77.0.1:8443',
} as const;
const reservations = { reservation: () => undefined, isReserved: () => false };
const view = { network, reservations, loaderGiven: false };
const items = ['470480000000ff', '470400008000ff', '4704', '', 'ff', '060108'];
const seeds = Object.values(clients).flatMap((raw) => items.map((item) => request({}, { ...raw, 43: item })));

/** What a server beside another one does with a message: it gives no address, and what it sends is a message again. */
export const target: FuzzTarget = {
  seeds: seeds.map(encodePacket),
  longest: 1500,
  run(input) {
    const packet = decodePacket(input);
    if ('malformed' in packet) return;
    const client = clientFacts(packet);
    const onPort = decideOn4011(packet, client, view);
    if ('reply' in onPort) checkReply(onPort.reply);
    destinationOn4011(packet, { address: '0.0.0.0', port: 68 });
    const offer = proxyDiscover(packet, client, view);
    if (offer.kind === 'reply') checkReply(offer.reply);
  },
};

function checkReply(reply: DhcpPacket): void {
  assert.equal(reply.yiaddr, '0.0.0.0');
  assert(!reply.options.has(51));
  assert(!('malformed' in decodePacket(encodePacket(reply))));
}
