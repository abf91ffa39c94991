import { readFileSync } from 'node:fs';
import { untagged, vlanOf } from '#rack/trunk/vlanTag.ts';

/** What passed on a machine's wire: an IPv4 packet of UDP or TCP, and whether its frame had a tag. */
export interface WirePacket {
  vlan: number | undefined;
  from: string;
  to: string;
  sourcePort: number;
  destinationPort: number;
  /** As far as the capture has it. */
  payload: string;
}

const tcp = 6;
const udp = 17;

/** The packets of a capture that `rack/trunk/capture.ts` wrote, in order. */
export function readWire(file: string): WirePacket[] {
  const bytes = readFileSync(file);
  const packets: WirePacket[] = [];
  for (let at = 24; at + 16 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 8);
    const packet = packetIn(bytes.subarray(at + 16, at + 16 + length));
    if (packet !== undefined) packets.push(packet);
    at += 16 + length;
  }
  return packets;
}

function packetIn(frame: Buffer): WirePacket | undefined {
  const vlan = vlanOf(frame);
  const ip = (vlan === undefined ? frame : untagged(frame)).subarray(14);
  const protocol = ip[9];
  if (ip.length < 28 || (ip.readUInt8(0) & 0xf0) !== 0x40 || (protocol !== tcp && protocol !== udp))
    return undefined;
  const segment = ip.subarray((ip.readUInt8(0) & 15) * 4);
  const header = protocol === udp ? 8 : (segment.readUInt8(12) >> 4) * 4;
  return {
    vlan,
    from: [...ip.subarray(12, 16)].join('.'),
    to: [...ip.subarray(16, 20)].join('.'),
    sourcePort: segment.readUInt16BE(0),
    destinationPort: segment.readUInt16BE(2),
    payload: segment.subarray(header).toString('latin1'),
  };
}
