import { inSubnet, noAddress } from './address.ts';
import type { DhcpNetwork } from './network.ts';
import { readOption } from './options.ts';
import type { DhcpPacket } from './packet.ts';
import { linkSelection } from './relayAgent.ts';

/**
 * The network that a message's client is on (RFC 2131 §4.3.1, RFC 3011, RFC 3527): the one that the relay or the client names,
 * else the relay's own, else that of the address which a client renews at us directly, else the interface's. Undefined when it
 * is none of ours.
 * @param networks that of the interface first, then those behind relays
 */
export function networkOf(packet: DhcpPacket, networks: readonly DhcpNetwork[]): DhcpNetwork | undefined {
  const named = namedLink(packet);
  if (named !== undefined) return networks.find(({ subnet }) => inSubnet(named, subnet));
  // Only a client that has its address reaches us past its relay.
  const renewing = networks.find(({ subnet }) => inSubnet(packet.ciaddr, subnet));
  return (packet.ciaddr === noAddress ? undefined : renewing) ?? networks[0];
}

/** An address on the client's link, as the relay or the client behind it says. Who is on our own wire is on no other. */
function namedLink({ options, giaddr }: DhcpPacket): string | undefined {
  if (giaddr === noAddress) return undefined;
  const relay = linkSelection(readOption(options, 'relayAgent'));
  return relay ?? readOption(options, 'subnetSelection') ?? giaddr;
}
