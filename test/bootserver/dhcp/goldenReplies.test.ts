import { expect, test } from 'vitest';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { writeOptions } from '#bootserver/dhcp/options.ts';
import { type DhcpPacket, decodePacket } from '#bootserver/dhcp/packet.ts';
import { decideOn4011 } from '#bootserver/dhcp/pxe4011.ts';
import { messageType } from '#bootserver/dhcp/reply.ts';
import { readDatagrams } from '../pcap.ts';
import { Bench, network, optionOf } from './bench.ts';
import { rawOption } from './samples.ts';

const folder = 'test/fixtures/dhcp';
const captures = ['p4-a-bios', 'p4-b-uefi-pxe', 'p4-c-uefi-http', 'p4-d-uefi-sb', 'uefi-ipxerom-trixie'];
const typeNames = ['', 'DISCOVER', 'OFFER', 'REQUEST', '', 'ACK', 'NAK'];

/** What real firmware and iPXE sent, each kind of message once. */
function messagesOf(capture: string): DhcpPacket[] {
  const seen = new Map<string, DhcpPacket>();
  for (const { destinationPort, payload } of readDatagrams(`${folder}/${capture}.pcap`)) {
    if (destinationPort !== 67) continue;
    const packet = decodePacket(payload);
    if ('malformed' in packet) throw new Error(packet.malformed);
    const name = `${optionOf(packet, 'messageType')} ${clientFacts(packet).kind}`;
    if (!seen.has(name)) seen.set(name, packet);
  }
  return [...seen.values()];
}

function described(reply: DhcpPacket): string {
  const address = reply.yiaddr === '0.0.0.0' ? 'no address' : 'an address';
  const fields = { siaddr: reply.siaddr, file: reply.file, 60: optionOf(reply, 'vendorClass') };
  const hex = { 43: rawOption(reply, 'vendorSpecific'), 67: optionOf(reply, 'bootFile') };
  const said = Object.entries({ ...fields, ...hex }).filter(([, value]) => value);
  const type = typeNames[optionOf(reply, 'messageType') ?? 0];
  return [type, address, ...said.map(([name, value]) => `${name} ${value}`)].join(', ');
}

/** A REQUEST as if it took the address of this server. */
function taking(packet: DhcpPacket, serverId: string, requestedAddress: string): DhcpPacket {
  if (optionOf(packet, 'messageType') !== messageType.request) return packet;
  const options = new Map([...packet.options, ...writeOptions({ serverId, requestedAddress })]);
  return { ...packet, options };
}

/** The reply in each mode. */
function replies(packet: DhcpPacket): string[] {
  const client = clientFacts(packet);
  const heading = `${typeNames[optionOf(packet, 'messageType') ?? 0]} of ${client.kind}`;
  const lines = (['full', 'proxy'] as const).map((mode) => {
    const bench = new Bench();
    // The captured DISCOVER was another server's to answer.
    bench.isForgetful = true;
    bench.network = { ...network, mode };
    const server = mode === 'full' ? network.address : '10.77.0.9';
    const decision = bench.ask(taking(packet, server, '10.77.0.101'));
    return `  ${mode}: ${decision.kind === 'silent' ? `silent, ${decision.reason}` : described(decision.reply)}`;
  });
  const reservations = { reservation: () => undefined, isReserved: () => false };
  const only = { network: { ...network, mode: '4011-only' as const }, reservations, loaderGiven: false };
  const boot = decideOn4011(packet, client, only);
  return [
    heading,
    ...lines,
    `  4011: ${'silent' in boot ? `silent, ${boot.silent}` : described(boot.reply)}`,
  ];
}

test('what each firmware of the captures is answered; `vitest -u` writes it', async () => {
  const text = captures.flatMap((capture) => [`# ${capture}`, ...messagesOf(capture).flatMap(replies), '']);
  await expect(text.join('\n')).toMatchFileSnapshot(`../../fixtures/dhcp/replies.txt`);
});
