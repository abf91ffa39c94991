import assert from 'node:assert/strict';
import { canonicalFileName } from '#bootserver/tftp/fileName.ts';
import { negotiate } from '#bootserver/tftp/negotiate.ts';
import { decodeTftp, encodeOptionAck } from '#bootserver/tftp/packet.ts';
import { readDatagrams } from '../../bootserver/pcap.ts';
import type { FuzzTarget } from '../target.ts';

const limits = { blockSize: 1468, windowSize: 16 };

function packets(): Buffer[] {
  const recorded = readDatagrams('test/fixtures/dhcp/p4-b-uefi-pxe.pcap')
    .filter(
      ({ sourcePort, destinationPort }) =>
        ![67, 68].includes(sourcePort) && ![67, 68].includes(destinationPort),
    )
    .slice(0, 40)
    .map(({ payload }) => Buffer.from(payload));
  const requests = [
    '\0\x01snponly.efi\0octet\0',
    '\0\x01\\boot\\..\\x.efi\0OCTET\0blksize\x0065464\0tsize\x000\0windowsize\x0064\0timeout\x00255\0',
    '\0\x01a\0octet\0BLKSIZE\x001024\0blksize\x008\0',
    '\0\x02w\0octet\0',
    '\0\x04\0\0',
    '\0\x05\0\x08User aborted\0',
  ];
  return [...recorded, ...requests.map((request) => Buffer.from(request, 'latin1'))];
}

/** TFTP: a packet or none; a name that stays in its folder; options that never exceed what was asked. */
export const target: FuzzTarget = {
  seeds: packets(),
  longest: 65_507,
  run(input) {
    const packet = decodeTftp(input);
    if (packet?.kind !== 'read') return;
    const name = canonicalFileName(packet.file);
    assert(name === undefined || !/(^\/|\\|(^|\/)\.\.(\/|$))/.test(name), 'the name leaves its folder');
    const agreed = negotiate(packet.options, 1_000_000, limits);
    assert(agreed.blockSize >= 8 && agreed.blockSize <= limits.blockSize);
    assert(agreed.windowSize >= 1 && agreed.windowSize <= limits.windowSize);
    assert([...agreed.accepted.keys()].every((option) => packet.options.has(option)));
    encodeOptionAck(agreed.accepted);
  },
};
