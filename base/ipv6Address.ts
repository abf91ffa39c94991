import { isIPv6 } from 'node:net';

/** The 16 bytes of an IPv6 address. The text must be one; a zone (`%eth0`) is left out. */
export function ipv6Bytes(text: string): Buffer {
  const [head = '', tail] = withoutDottedQuad(withoutZone(text)).split('::');
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros: number[] = new Array(8 - before.length - after.length).fill(0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 255]));
}

/** The one spelling of an address that RFC 5952 §4 recommends, and that Node says of a socket's peer. */
export function ipv6Text(bytes: Buffer): string {
  const words = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2));
  const zeros = longestZeros(words);
  const text = (from: number, to: number) => words.slice(from, to).map(hex).join(':');
  if (zeros.length < 2) return text(0, 8);
  return `${text(0, zeros.start)}::${text(zeros.start + zeros.length, 8)}`;
}

/** The spelling of RFC 5952 of any text that is an IPv6 address; undefined for other text. */
export function canonicalIpv6(text: string): string | undefined {
  return isIPv6(text) ? ipv6Text(ipv6Bytes(text)) : undefined;
}

export function withoutZone(address: string): string {
  const at = address.indexOf('%');
  return at === -1 ? address : address.slice(0, at);
}

/** `::ffff:10.0.0.1` with its last four bytes as two groups. */
function withoutDottedQuad(text: string): string {
  return text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${hex((a << 8) | b)}:${hex((c << 8) | d)}`;
  });
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
