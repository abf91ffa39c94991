import { isIPv6 } from 'node:net';

/** An IPv6 network by any address in it. */
export interface Prefix {
  address: string;
  prefixLength: number;
}

const unspecified = '::';

/** An IPv6 address as an unsigned 128-bit number. The text must be one, which configuration and codecs check. */
export function addressNumber(text: string): bigint {
  return BigInt(`0x${addressBytes(text).toString('hex')}`);
}

export function numberAddress(number: bigint): string {
  return addressText(Buffer.from(number.toString(16).padStart(32, '0'), 'hex'));
}

/** The 16 bytes of an address; a zone (`%eth0`) is left out. */
export function addressBytes(text: string): Buffer {
  const [head = '', tail] = withoutDottedQuad(withoutZone(text)).split('::');
  const before = groups(head);
  const after = groups(tail ?? '');
  const bytes = Buffer.alloc(16);
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  for (const [index, group] of all.entries()) bytes.writeUInt16BE(group, index * 2);
  return bytes;
}

/** The one spelling of an address that RFC 5952 §4 recommends, and that Node says of a socket's peer. */
export function addressText(bytes: Buffer): string {
  const words = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2));
  const zeros = longestZeros(words);
  const text = (from: number, to: number) => words.slice(from, to).map(hex).join(':');
  if (zeros.length < 2) return text(0, 8);
  return `${text(0, zeros.start)}::${text(zeros.start + zeros.length, 8)}`;
}

/** The spelling of RFC 5952 of any text that is an IPv6 address; undefined for other text. */
export function canonicalAddress(text: string): string | undefined {
  return isIPv6(text) ? addressText(addressBytes(text)) : undefined;
}

export function withoutZone(address: string): string {
  const at = address.indexOf('%');
  return at === -1 ? address : address.slice(0, at);
}

export function isUnspecified(address: string): boolean {
  return address === unspecified;
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
  const bytes = addressBytes(address).subarray(8);
  if (bytes[3] !== 0xff || bytes[4] !== 0xfe) return undefined;
  const mac = Buffer.concat([bytes.subarray(0, 3), bytes.subarray(5)]);
  mac.writeUInt8(mac.readUInt8(0) ^ 2, 0);
  return mac.toString('hex').replace(/..(?!$)/g, '$&:');
}

/** `::ffff:10.0.0.1` has its last two groups as a dotted quad. */
function withoutDottedQuad(text: string): string {
  return text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map(hex).join(':'),
  );
}

function groups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

function hex(group: number): string {
  return group.toString(16);
}

/** The first of the longest runs of zero groups. */
function longestZeros(words: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < words.length; start++) {
    let end = start;
    while (words[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
  }
  return best;
}
