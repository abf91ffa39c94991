/** What listens on a network with the service manager's help. */
export type SocketService = 'dhcp' | 'tftp' | 'pxe' | 'dhcp6' | 'tftp6';

/**
 * The name of a socket: of its unit (`bcd-<name>.socket`) and of its descriptor. The main network's is the service alone, which
 * `bcd-site.service` asks for; those of further networks have their interface in it.
 */
export function socketName(service: SocketService, interfaceName: string, isMain: boolean): string {
  return isMain ? service : `${service}-${interfaceName}`;
}
