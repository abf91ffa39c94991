import { ipv6Bytes, ipv6Text } from '#base/ipv6Address.ts';

/** An IPv6 network by any address in it. */
export interface Prefix {
  address: string;
  prefixLength: number;
}

/** An IPv6 address as an unsigned 128-bit number. The text must be one, which configuration and codecs check. */
export function addressNumber(text: string): bigint {
  return BigInt(`0x${ipv6Bytes(text).toString('hex')}`);
}

export function numberAddress(number: bigint): string {
  return ipv6Text(Buffer.from(number.toString(16).padStart(32, '0'), 'hex'));
}

export function isUnspecified(address: string): boolean {
  return address === '::';
}

export function inPrefix(address: string, prefix: Prefix): boolean {
  const shift = BigInt(128 - prefix.prefixLength);
  return addressNumber(address) >> shift === addressNumber(prefix.address) >> shift;
}

/**
 * The MAC that an address was formed from: its last 64 bits are the MAC with `ff:fe` in the middle and one bit turned (RFC 4291
 * appendix A). Firmware and iPXE form their link-local addresses so; undefined where a host has others.
 */
export function macOfAddress(address: string): string | undefined {
  const bytes = ipv6Bytes(address).subarray(8);
  if (bytes[3] !== 0xff || bytes[4] !== 0xfe) return undefined;
  const mac = Buffer.concat([bytes.subarray(0, 3), bytes.subarray(5)]);
  mac.writeUInt8(mac.readUInt8(0) ^ 2, 0);
  return macText(mac);
}

/** `02:00:00:00:00:01` */
export function macText(bytes: Buffer): string {
  return bytes.toString('hex').replace(/..(?!$)/g, '$&:');
}
