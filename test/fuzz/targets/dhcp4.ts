import assert from 'node:assert/strict';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { dhcpOptions, type OptionName, readOption } from '#bootserver/dhcp/options.ts';
import { decodePacket, encodePacket } from '#bootserver/dhcp/packet.ts';
import { readDatagrams } from '../../bootserver/pcap.ts';
import type { FuzzTarget } from '../target.ts';

const captures = ['p4-a-bios', 'p4-b-uefi-pxe', 'p4-c-uefi-http', 'p4-d-uefi-sb', 'uefi-ipxerom-trixie'];

/** Messages that real firmware has sent, and the least one. */
function messages(): Buffer[] {
  const recorded = captures
    .flatMap((capture) => readDatagrams(`test/fixtures/dhcp/${capture}.pcap`))
    .filter(({ sourcePort }) => sourcePort === 68 || sourcePort === 67)
    .map(({ payload }) => Buffer.from(payload));
  const least = Buffer.alloc(244);
  least.writeUInt32BE(0x63825363, 236);
  Buffer.from([53, 1, 1, 255]).copy(least, 240);
  return [...recorded, least];
}

/** DHCPv4: a message decodes or is malformed; what decodes says who sent it, and survives being written. */
export const target: FuzzTarget = {
  seeds: messages(),
  longest: 65_507,
  run(input) {
    const packet = decodePacket(input);
    if ('malformed' in packet) return;
    clientFacts(packet);
    for (const name of Object.keys(dhcpOptions) as OptionName[]) readOption(packet.options, name);
    const again = decodePacket(encodePacket(packet));
    assert(!('malformed' in again));
    for (const [number, value] of packet.options) assert(again.options.get(number)?.equals(value));
  },
};
