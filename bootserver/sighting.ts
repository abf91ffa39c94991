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

/** What a message tells of its sender. */
export function sightingOf(
  mac: string,
  packet: DhcpPacket,
  { uuid, architecture, kind }: ClientFacts,
  isNewBoot: boolean,
): Sighting {
  return {
    mac,
    ...(uuid !== undefined && { uuid }),
    ...(architecture !== undefined && {
      architecture: architecture.machine,
      firmware: architecture.firmware,
    }),
    client: kind,
    ...(packet.giaddr !== noAddress && { relay: { address: packet.giaddr, ...relayPort(packet) } }),
    isNewBoot,
  };
}
