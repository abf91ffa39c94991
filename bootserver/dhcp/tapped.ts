import type { PacketTap } from '../packetTap.ts';
import { noAddress } from './address.ts';
import { type DhcpPacket, hardwareAddress } from './packet.ts';

/** Shows a message of a client to whoever looks at it. Node does not say where a datagram was sent to: without an address one broadcasts. */
export function tapRequest(
  tap: PacketTap | undefined,
  packet: DhcpPacket,
  {
    bytes,
    from,
    own,
    port,
  }: { bytes: Buffer; from: { address: string; port: number }; own: string; port: number },
): void {
  if (!tap?.isOn) return;
  const to = { address: from.address === noAddress ? '255.255.255.255' : own, port };
  tap.saw(hardwareAddress(packet), { from, to, payload: bytes });
}

/** Shows an answer of ours. */
export function tapReply(
  tap: PacketTap | undefined,
  reply: DhcpPacket,
  {
    bytes,
    to,
    own,
    port,
  }: { bytes: Buffer; to: { address: string; port: number }; own: string; port: number },
): void {
  if (tap?.isOn) tap.saw(hardwareAddress(reply), { from: { address: own, port }, to, payload: bytes });
}
