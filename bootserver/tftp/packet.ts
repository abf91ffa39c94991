/** TFTP messages that a read-only server meets (RFC 1350 §5, RFC 2347). */
export type TftpPacket =
  | { kind: 'read'; file: string; mode: string; options: Map<string, string> }
  | { kind: 'write' }
  | { kind: 'ack'; block: number }
  | { kind: 'error'; code: number; message: string };

/** RFC 1350 §5 and RFC 2347. */
export const tftpError = {
  undefined: 0,
  fileNotFound: 1,
  accessViolation: 2,
  illegalOperation: 4,
  unknownTransferId: 5,
  optionsRefused: 8,
} as const;

const opcode = { read: 1, write: 2, data: 3, ack: 4, error: 5, optionAck: 6 } as const;

/** The message in a datagram; undefined when it is none that a client of a read-only server sends. Total. */
export function decodeTftp(bytes: Buffer): TftpPacket | undefined {
  if (bytes.length < 4) return undefined;
  switch (bytes.readUInt16BE()) {
    case opcode.read:
      return decodeRead(bytes.subarray(2));
    case opcode.write:
      return { kind: 'write' };
    case opcode.ack:
      return { kind: 'ack', block: bytes.readUInt16BE(2) };
    case opcode.error:
      return { kind: 'error', code: bytes.readUInt16BE(2), message: text(bytes.subarray(4)) };
    default:
      return undefined;
  }
}

/** `number` is the block's on the wire (`wireNumber`). */
export function encodeData(number: number, data: Buffer): Buffer {
  const packet = Buffer.allocUnsafe(4 + data.length);
  packet.writeUInt16BE(opcode.data);
  packet.writeUInt16BE(number, 2);
  data.copy(packet, 4);
  return packet;
}

export function encodeError(code: number, message: string): Buffer {
  return Buffer.concat([uint16s(opcode.error, code), Buffer.from(`${message}\0`, 'latin1')]);
}

export function encodeOptionAck(options: ReadonlyMap<string, string>): Buffer {
  const pairs = Array.from(options, ([name, value]) => `${name}\0${value}\0`).join('');
  return Buffer.concat([uint16s(opcode.optionAck), Buffer.from(pairs, 'latin1')]);
}

/**
 * File, mode and options as NUL-ended texts; an option without its value is dropped, names are lower-cased (RFC 2347). A request without a name
 * or mode is one too: a ROM that was told no file waits for the ERROR.
 */
function decodeRead(body: Buffer): TftpPacket {
  const [file = '', mode = '', ...rest] = body.toString('latin1').split('\0');
  const options = new Map<string, string>();
  for (let at = 0; at + 2 < rest.length; at += 2) {
    const name = rest[at]?.toLowerCase() ?? '';
    if (name !== '' && !options.has(name)) options.set(name, rest[at + 1] ?? '');
  }
  return { kind: 'read', file, mode: mode.toLowerCase(), options };
}

function text(bytes: Buffer): string {
  return bytes.toString('latin1').split('\0', 1)[0] ?? '';
}

function uint16s(...values: number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
}
