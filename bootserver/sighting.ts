import { noAddress } from './dhcp/address.ts';
import type { ClientFacts, ClientKind } from './dhcp/client.ts';
import type { DhcpPacket } from './dhcp/packet.ts';
import { relayPort } from './dhcp/relayAgent.ts';

/** What one message tells of a machine that is there. */
export interface Sighting {
  mac: string;
  uuid?: string;
  serial?: string;
  architecture?: string;
  firmware?: string;
  client?: ClientKind;
  relay?: { address: string; circuitId?: string; remoteId?: string };
  /** A boot begins with it. */
  isNewBoot: boolean;
}

/** What a message over IPv4 tells of its sender. */
export function sightingOf(
  mac: string,
  packet: DhcpPacket,
  client: ClientFacts,
  isNewBoot: boolean,
): Sighting {
  const relay = packet.giaddr === noAddress ? undefined : { address: packet.giaddr, ...relayPort(packet) };
  return { mac, ...clientSighting(client), ...(relay && { relay }), isNewBoot };
}

/** What any client of DHCP tells of itself. */
export function clientSighting({
  uuid,
  architecture,
  kind,
}: Pick<ClientFacts, 'uuid' | 'architecture' | 'kind'>): Pick<
  Sighting,
  'uuid' | 'architecture' | 'firmware' | 'client'
> {
  return {
    ...(uuid !== undefined && { uuid }),
    ...(architecture && { architecture: architecture.machine, firmware: architecture.firmware }),
    client: kind,
  };
}
