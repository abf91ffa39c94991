/** An RRQ in octet mode, options in the order given and spelled as given. */
export function readRequest(file: string, options: Record<string, string> = {}, mode = 'octet'): Buffer {
  const words = [file, mode, ...Object.entries(options).flat()];
  return Buffer.concat([
    Buffer.from([0, 1]),
    Buffer.from(words.map((word) => `${word}\0`).join(''), 'latin1'),
  ]);
}

export function ack(block: number): Buffer {
  return Buffer.from([0, 4, (block >> 8) & 255, block & 255]);
}

export function errorPacket(code: number, message: string): Buffer {
  return Buffer.concat([Buffer.from([0, 5, 0, code]), Buffer.from(`${message}\0`)]);
}

/** Bytes that differ from block to block. */
export function content(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8) * 7 + (at >> 16)) & 255;
  return bytes;
}

/** What a datagram of the server says. */
export function describe(datagram: Buffer): string {
  const number = datagram.readUInt16BE(2);
  if (datagram[1] === 3) return `DATA ${number}`;
  if (datagram[1] === 5) return `ERROR ${number}`;
  return `OACK ${datagram.subarray(2).toString().replaceAll('\0', ' ').trim()}`;
}
