import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ipv6Bytes } from '../ipv6Address.ts';

/** `bits/socket.h`; the values hold on every architecture that we run on. */
export const addressFamily = { ipv4: 2, ipv6: 10 } as const;

/**
 * An address and port as the kernel takes them: `struct sockaddr_in` of ip(7) or `struct sockaddr_in6` of ipv6(7). The family is in
 * host order, the rest in network order. `address` is one that Node wrote: dotted, or of IPv6 with `%interface` if it is link-local.
 */
export function socketAddress(address: string, port: number): Buffer {
  return isIPv6(address) ? ipv6(address, port) : ipv4(address, port);
}

function ipv4(address: string, port: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(addressFamily.ipv4, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(address.split('.').map(Number), 4);
  return bytes;
}

function ipv6(text: string, port: number): Buffer {
  const [address = '', zone = ''] = text.split('%');
  const bytes = Buffer.alloc(28);
  bytes.writeUInt16LE(addressFamily.ipv6, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(ipv6Bytes(address), 8);
  bytes.writeUInt32LE(scopeId(zone), 24);
  return bytes;
}

/** Which interface a link-local address is on; 0 for an address that needs none. */
function scopeId(zone: string): number {
  if (zone === '' || /^\d+$/.test(zone)) return Number(zone);
  return networkInterfaces()[zone]?.find((one) => one.family === 'IPv6' && one.scopeid > 0)?.scopeid ?? 0;
}
