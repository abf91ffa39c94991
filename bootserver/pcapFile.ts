import { isIPv6 } from 'node:net';
import { ipv6Bytes } from '#base/ipv6Address.ts';
import type { SeenDatagram } from './packetTap.ts';

/** LINKTYPE_RAW: a packet begins with its IP header (https://www.tcpdump.org/linktypes.html). */
const rawIp = 101;
const udp = 17;
const longestPacket = 65_535;

/** The header of a capture file: microseconds, little-endian (draft-ietf-opsawg-pcap §4). */
export function pcapHeader(): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(longestPacket, 16);
  header.writeUInt32LE(rawIp, 20);
  return header;
}

/** One datagram as a record of the file. Its IP and UDP headers are made up again: the server saw the addresses and the payload. */
export function pcapRecord(datagram: SeenDatagram): Buffer {
  const packet = isIPv6(datagram.from.address) ? ipv6Packet(datagram) : ipv4Packet(datagram);
  const header = Buffer.alloc(16);
  header.writeUInt32LE(Math.floor(datagram.at / 1000), 0);
  header.writeUInt32LE((datagram.at % 1000) * 1000, 4);
  header.writeUInt32LE(packet.length, 8);
  header.writeUInt32LE(packet.length, 12);
  return Buffer.concat([header, packet]);
}

/** RFC 791 §3.1. */
function ipv4Packet(datagram: SeenDatagram): Buffer {
  const addresses = Buffer.concat([ipv4Bytes(datagram.from.address), ipv4Bytes(datagram.to.address)]);
  const body = udpDatagram(datagram, addresses, longestPacket - 20);
  const header = Buffer.alloc(12);
  header.writeUInt8(0x45, 0);
  header.writeUInt16BE(20 + body.length, 2);
  header.writeUInt8(64, 8);
  header.writeUInt8(udp, 9);
  header.writeUInt16BE(checksum(Buffer.concat([header, addresses])), 10);
  return Buffer.concat([header, addresses, body]);
}

/** RFC 8200 §3. */
function ipv6Packet(datagram: SeenDatagram): Buffer {
  const addresses = Buffer.concat([ipv6Bytes(datagram.from.address), ipv6Bytes(datagram.to.address)]);
  const body = udpDatagram(datagram, addresses, longestPacket - 40);
  const header = Buffer.alloc(8);
  header.writeUInt8(0x60, 0);
  header.writeUInt16BE(body.length, 4);
  header.writeUInt8(udp, 6);
  header.writeUInt8(64, 7);
  return Buffer.concat([header, addresses, body]);
}

function ipv4Bytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/**
 * RFC 768. The checksum is over a pseudo header of addresses, protocol and length, and the datagram; 0 is sent as its other form. IPv6's
 * pseudo header (RFC 8200 §8.1) only has more zeros, which add nothing.
 */
function udpDatagram({ from, to, payload }: SeenDatagram, addresses: Buffer, longest: number): Buffer {
  const datagram = Buffer.concat([Buffer.alloc(8), payload.subarray(0, longest - 8)]);
  datagram.writeUInt16BE(from.port, 0);
  datagram.writeUInt16BE(to.port, 2);
  datagram.writeUInt16BE(datagram.length, 4);
  const pseudo = Buffer.from([0, udp, datagram.length >> 8, datagram.length & 255]);
  datagram.writeUInt16BE(checksum(Buffer.concat([addresses, pseudo, datagram])) || 0xffff, 6);
  return datagram;
}

/** RFC 1071. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at]! << 8) | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
