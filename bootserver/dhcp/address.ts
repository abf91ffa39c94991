const [dot, zero] = ['.'.charCodeAt(0), '0'.charCodeAt(0)] as const;

/** An IPv4 address as an unsigned 32-bit number. The text must be a dotted quad, which configuration and codecs check. */
export function addressNumber(text: string): number {
  let [sum, part] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === dot) [sum, part] = [sum * 256 + part, 0];
    else part = part * 10 + code - zero;
  }
  return sum * 256 + part;
}

export function addressText(number: number): string {
  return [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255].join('.');
}

/** The netmask of a prefix length (0-32), e.g. `255.255.255.0` for 24. */
export function netmask(prefixLength: number): string {
  return addressText(prefixLength === 0 ? 0 : (0xffffffff << (32 - prefixLength)) >>> 0);
}

/** An IPv4 network by any address in it. */
export interface Subnet {
  address: string;
  prefixLength: number;
}

export function inSubnet(address: string, subnet: Subnet): boolean {
  const size = 2 ** (32 - subnet.prefixLength);
  return Math.floor(addressNumber(address) / size) === Math.floor(addressNumber(subnet.address) / size);
}

/** Whether a host of the subnet can have the address: neither the network itself nor its broadcast address. */
export function isHostAddress(address: string, subnet: Subnet): boolean {
  if (!inSubnet(address, subnet)) return false;
  const size = 2 ** (32 - subnet.prefixLength);
  const host = addressNumber(address) % size;
  return size <= 2 || (host !== 0 && host !== size - 1);
}

/** What stands in a field for an address when there is none (RFC 2131 §2). */
export const noAddress = '0.0.0.0';
