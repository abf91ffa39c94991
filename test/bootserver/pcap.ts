import { readFileSync } from 'node:fs';

export interface CapturedDatagram {
  sourcePort: number;
  destinationPort: number;
  payload: Buffer;
}

/** The UDP datagrams over IPv4 of an Ethernet capture (pcap, little-endian, not fragmented). */
export function readDatagrams(file: string): CapturedDatagram[] {
  const bytes = readFileSync(file);
  const datagrams: CapturedDatagram[] = [];
  for (let at = 24; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at + 8);
    const datagram = udpOverIpv4(bytes.subarray(at + 16, at + 16 + length));
    if (datagram !== undefined) datagrams.push(datagram);
    at += 16 + length;
  }
  return datagrams;
}

function udpOverIpv4(frame: Buffer): CapturedDatagram | undefined {
  if (frame.readUInt16BE(12) !== 0x0800 || frame[23] !== 17) return undefined;
  const udp = 14 + (frame[14]! & 15) * 4;
  return {
    sourcePort: frame.readUInt16BE(udp),
    destinationPort: frame.readUInt16BE(udp + 2),
    payload: frame.subarray(udp + 8, udp + frame.readUInt16BE(udp + 4)),
  };
}
