import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

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

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = dotless(address).split('::');
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros: number[] = new Array(8 - left.length - right.length).fill(0);
  return Buffer.from([...left, ...zeros, ...right].flatMap((group) => [group >> 8, group & 255]));
}

/** `::ffff:10.0.0.1` with its last four bytes as two groups. */
function dotless(address: string): string {
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
}

function groups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/** Which interface a link-local address is on; 0 for an address that needs none. */
function scopeId(zone: string): number {
  if (zone === '' || /^\d+$/.test(zone)) return Number(zone);
  return networkInterfaces()[zone]?.find((one) => one.family === 'IPv6' && one.scopeid > 0)?.scopeid ?? 0;
}
