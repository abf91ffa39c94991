import { untagged, vlanOf } from '#rack/trunk/vlanTag.ts';
import { capturedFrames } from '../bootserver/pcap.ts';

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
  return capturedFrames(file).flatMap((frame) => packetIn(frame) ?? []);
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
