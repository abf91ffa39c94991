import { type DhcpPacket, hardwareAddress } from './packet.ts';

/**
 * Clients are told apart by hardware type and address (`1/02:00:00:00:00:01`), or by client identifier (`id/…`) where there is no
 * hardware address (InfiniBand, RFC 4390). The type counts: the same six bytes under another one are another client.
 */
export function hardwareKey(packet: DhcpPacket): string {
  return `${packet.htype}/${hardwareAddress(packet)}`;
}

/** Of who has no identity at all. */
export const noClientKey = 'id/';

/** The key by a client identifier; one that fills more than an option (255 bytes) is none. */
export function identifierKey(clientId: Buffer | undefined): string {
  return clientId === undefined || clientId.length > 255
    ? noClientKey
    : `${noClientKey}${clientId.toString('hex')}`;
}

/** The key of the client that an Ethernet address is. */
export function ethernetKey(mac: string): string {
  return `${ethernet}/${mac}`;
}

/** The Ethernet address of a client; undefined when its hardware is another one, whatever its address looks like. */
export function macOfKey(key: string | undefined): string | undefined {
  return ethernetPattern.exec(key ?? '')?.[1];
}

/** https://www.iana.org/assignments/arp-parameters, hardware types. */
const ethernet = 1;
const ethernetPattern = new RegExp(`^${ethernet}/([0-9a-f]{2}(?::[0-9a-f]{2}){5})$`);
