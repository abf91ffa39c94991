import { inSubnet } from './address.ts';
import { type BootFields, bootFields, isBootClass } from './bootFields.ts';
import { buildBootReply } from './bootReply.ts';
import { type BootView, bootContext } from './bootView.ts';
import type { ClientFacts } from './client.ts';
import type { Decision } from './decide.ts';
import { readOption } from './options.ts';
import type { DhcpPacket } from './packet.ts';
import { messageType } from './reply.ts';

/**
 * A DISCOVER on a network where another server gives the addresses: a second offer without one, to clients that boot from the
 * network and that we have a file for.
 */
export function proxyDiscover(packet: DhcpPacket, client: ClientFacts, view: BootView): Decision {
  return answered('OFFER', packet, client, view);
}

/**
 * A REQUEST is for the server that gives the address: it is never answered, and never refused (a NAK would have the client
 * drop that server's lease, ipxe/ipxe PR 879). What it boots the client knows from our offer, or asks on port 4011.
 */
export function proxyRequest(packet: DhcpPacket, _client: ClientFacts, view: BootView): Decision {
  return readOption(packet.options, 'serverId') === view.network.address
    ? silent('it asks us for an address: did no DHCP server answer?')
    : silent('a REQUEST to the DHCP server');
}

/** The client has an address and wants to know the rest; our ramdisk asks for its site this way. */
export function proxyInform(packet: DhcpPacket, client: ClientFacts, view: BootView): Decision {
  if (!inSubnet(packet.ciaddr, view.network.subnet))
    return silent('an INFORM without an address of this network');
  return answered('ACK', packet, client, view);
}

function answered(what: 'OFFER' | 'ACK', packet: DhcpPacket, client: ClientFacts, view: BootView): Decision {
  if (!isBootClass(client.kind) && !(client.kind === 'ramdisk' && what === 'ACK'))
    return silent('it does not boot from the network');
  const fields = bootFields(client, bootContext(client, view));
  if (saysNothing(fields)) return silent(view.isLooping ? 'it is in a loop' : 'there is no boot file for it');
  const type = what === 'OFFER' ? messageType.offer : messageType.ack;
  const reply = buildBootReply(packet, type, view.network.address, fields);
  return { kind: 'reply', reply, what, changes: [] };
}

export function saysNothing({ options, server }: BootFields): boolean {
  return server === undefined && options.site === undefined;
}

function silent(reason: string): Decision {
  return { kind: 'silent', reason, changes: [] };
}
