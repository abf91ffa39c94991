import { readFileSync } from 'node:fs';

export interface CapturedDatagram {
  sourcePort: number;
  destinationPort: number;
  payload: Buffer;
}

/** The frames of an Ethernet capture (pcap, little-endian). */
export function capturedFrames(file: string): Buffer[] {
  const bytes = readFileSync(file);
  const frames: Buffer[] = [];
  for (let at = 24; at + 16 <= bytes.length; ) {
    const end = at + 16 + bytes.readUInt32LE(at + 8);
    frames.push(bytes.subarray(at + 16, end));
    at = end;
  }
  return frames;
}

/** The UDP datagrams over IPv4 of a capture, which are not fragmented. */
export function readDatagrams(file: string): CapturedDatagram[] {
  return capturedFrames(file).flatMap((frame) => udpOverIpv4(frame) ?? []);
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
