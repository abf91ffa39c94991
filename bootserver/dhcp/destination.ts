import { noAddress } from './address.ts';
import { readOption } from './options.ts';
import type { DhcpPacket } from './packet.ts';
import { messageType } from './reply.ts';

/**
 * Where a reply goes (RFC 2131 §4.1): to the relay's server port, to a client that has an address, else to everybody. A
 * client without an address could be reached alone only by writing Ethernet frames, which needs privileges.
 */
export function replyDestination(reply: DhcpPacket): { address: string; port: number } {
  if (reply.giaddr !== noAddress) return { address: reply.giaddr, port: 67 };
  const refused = readOption(reply.options, 'messageType') === messageType.nak;
  if (!refused && reply.ciaddr !== noAddress) return { address: reply.ciaddr, port: 68 };
  return { address: '255.255.255.255', port: 68 };
}
