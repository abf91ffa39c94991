import { isIPv6 } from 'node:net';

/**
 * Who counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, since a host may take any address of its
 * network (RFC 4291 §2.5.1). Whoever comes over a local socket has no address, and is one client.
 */
export function clientKey(address: string | undefined): string {
  if (address === undefined || address === '') return 'local';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return isIPv6(address) ? `${networkOf(address)}::/64` : address;
}

function networkOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = Array(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

function groups(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}
