import { clientFacts } from '#bootserver/dhcp/client.ts';
import { dhcpOptions, type OptionName, readOption } from '#bootserver/dhcp/options.ts';
import { decodePacket } from '#bootserver/dhcp/packet.ts';
import type { FuzzTarget } from '../target.ts';

/** The options whose values have a form of their own: vendor options, class, client id, user class, relay, architecture, UUID, iPXE. */
const structured = [43, 60, 61, 77, 82, 93, 94, 97, 175] as const;
const values = [
  '',
  '060108ff',
  '47048000000000ff',
  '505845436c69656e743a417263683a30303030373a554e44493a303033303136',
  '69505845',
  '0d7261696c686561642d69707865',
  '0104000000050206aabbccddeeff',
  '0007',
  '000b0007',
  '00ff',
  '01030a',
  '0033221100554477668899aabbccddeeff',
  `00${'00'.repeat(16)}`,
  'b10501808610131301011501011701012401 01'.replace(' ', ''),
];

const header = Buffer.alloc(240);
header.writeUInt8(1, 0);
header.writeUInt8(1, 1);
header.writeUInt8(6, 2);
header.writeUInt32BE(0x63825363, 236);

/** One structured option, of the number that the first byte chooses, whose value is the rest. */
export const target: FuzzTarget = {
  seeds: structured.flatMap((_, index) =>
    values.map((value) => Buffer.from([index, ...Buffer.from(value, 'hex')])),
  ),
  longest: 60_000,
  run(input) {
    const number = structured[(input[0] ?? 0) % structured.length]!;
    const packet = decodePacket(
      Buffer.concat([header, ...chunks(number, input.subarray(1)), Buffer.from([255])]),
    );
    if ('malformed' in packet) throw new Error(packet.malformed);
    clientFacts(packet);
    for (const name of Object.keys(dhcpOptions) as OptionName[]) readOption(packet.options, name);
  },
};

/** RFC 3396: what is longer than an option can be is repeated. */
function chunks(number: number, value: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < Math.max(1, value.length); at += 255) {
    const part = value.subarray(at, at + 255);
    parts.push(Buffer.from([number, part.length]), part);
  }
  return parts;
}
