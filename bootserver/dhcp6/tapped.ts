import type { PacketTap } from '../packetTap.ts';
import { allServers } from './message.ts';

interface Tapping {
  tap?: PacketTap;
  /** Ours as the machines know it: Node does not say which of the interface's a datagram was sent to, or leaves from. */
  site: { address: string };
  port: number;
}

/** Shows a message of a client to whoever looks at it. */
export function tapRequest(
  { tap, site, port }: Tapping,
  mac: string | undefined,
  { bytes, from, isRelayed }: { bytes: Buffer; from: { address: string; port: number }; isRelayed: boolean },
): void {
  const to = { address: isRelayed ? site.address : allServers, port };
  if (tap?.isOn) tap.saw(mac, { from, to, payload: bytes });
}

/** Shows an answer of ours. */
export function tapReply(
  { tap, site, port }: Tapping,
  mac: string | undefined,
  { bytes, to }: { bytes: Buffer; to: { address: string; port: number } },
): void {
  if (tap?.isOn) tap.saw(mac, { from: { address: site.address, port }, to, payload: bytes });
}
