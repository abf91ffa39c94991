import { isIPv4 } from 'node:net';
import { addressNumber, addressText } from '#bootserver/dhcp/address.ts';

/** Bits of a netmask; undefined when it is none. */
export function prefixOfMask(mask: string): number | undefined {
  if (!isIPv4(mask)) return undefined;
  const hosts = 2 ** 32 - addressNumber(mask);
  const bits = Math.log2(hosts);
  return Number.isInteger(bits) ? 32 - bits : undefined;
}

export function networkOf(address: string, prefixLength: number): string {
  const hosts = 2 ** (32 - prefixLength);
  return addressText(Math.floor(addressNumber(address) / hosts) * hosts);
}

/** The first and last address of `a - b` or of a prefix; undefined when the text is neither. */
export function rangeOf(text: string): { first: string; last: string } | undefined {
  const [first = '', last = ''] = text.split(/\s*-\s*/);
  if (isIPv4(first.trim()) && isIPv4(last.trim())) return { first: first.trim(), last: last.trim() };
  const [address = '', width = ''] = text.trim().split('/');
  if (!isIPv4(address) || !/^\d{1,2}$/.test(width) || Number(width) > 32) return undefined;
  const network = addressNumber(networkOf(address, Number(width)));
  return { first: addressText(network), last: addressText(network + 2 ** (32 - Number(width)) - 1) };
}
