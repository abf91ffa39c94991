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
  const packet = ipv4Packet(datagram);
  const header = Buffer.alloc(16);
  header.writeUInt32LE(Math.floor(datagram.at / 1000), 0);
  header.writeUInt32LE((datagram.at % 1000) * 1000, 4);
  header.writeUInt32LE(packet.length, 8);
  header.writeUInt32LE(packet.length, 12);
  return Buffer.concat([header, packet]);
}

function ipv4Packet({ from, to, payload }: SeenDatagram): Buffer {
  const body = payload.subarray(0, longestPacket - 28);
  const packet = Buffer.alloc(28 + body.length);
  packet.writeUInt8(0x45, 0);
  packet.writeUInt16BE(packet.length, 2);
  packet.writeUInt8(64, 8);
  packet.writeUInt8(udp, 9);
  writeAddress(packet, from.address, 12);
  writeAddress(packet, to.address, 16);
  packet.writeUInt16BE(from.port, 20);
  packet.writeUInt16BE(to.port, 22);
  packet.writeUInt16BE(8 + body.length, 24);
  body.copy(packet, 28);
  packet.writeUInt16BE(checksum(packet.subarray(0, 20)), 10);
  packet.writeUInt16BE(udpChecksum(packet), 26);
  return packet;
}

function writeAddress(packet: Buffer, address: string, at: number): void {
  for (const [index, part] of address.split('.').entries()) packet.writeUInt8(Number(part), at + index);
}

/** RFC 768: over a pseudo header of addresses, protocol and length, and the datagram; 0 is sent as its other form. */
function udpChecksum(packet: Buffer): number {
  const length = Buffer.from([0, udp, (packet.length - 20) >> 8, (packet.length - 20) & 255]);
  return checksum(Buffer.concat([packet.subarray(12, 20), length, packet.subarray(20)])) || 0xffff;
}

/** RFC 1071. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at]! << 8) | (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
