import { addressNumber, addressText } from './address.ts';

/** A BOOTP message with DHCP options (RFC 2131 §2). Addresses are dotted quads; `0.0.0.0` is none. */
export interface DhcpPacket {
  /** 1: from a client; 2: from a server. */
  op: number;
  htype: number;
  hlen: number;
  hops: number;
  xid: number;
  secs: number;
  flags: number;
  ciaddr: string;
  /** The address that the server gives to the client. */
  yiaddr: string;
  /** The server to load the boot file from. */
  siaddr: string;
  /** The relay that the request came through. */
  giaddr: string;
  /** All 16 bytes of the field; the hardware address is the first `hlen`. */
  chaddr: Buffer;
  sname: string;
  file: string;
  /** Raw values by option number: repeated options joined (RFC 3396), overloaded fields included. */
  options: Map<number, Buffer>;
}

/** Why bytes are no DHCP message. */
export type Malformed = { malformed: 'too-short' | 'no-magic-cookie' | 'option-overrun' };

export const broadcastFlag = 0x8000;

const magicCookie = 0x63825363;
const optionsOffset = 240;
const fieldOffset = { sname: 44, file: 108 } as const;
const pad = 0;
const end = 255;
const overload = 52;
const messageType = 53;
const mostOfPart = 255;
const relayAgentInformation = 82;
/** The least payload that old relays and clients take (BOOTP's 300 bytes, RFC 1542 §2.1). */
const minimumLength = 300;

/** The message in a datagram, or why there is none. Total: never throws. */
export function decodePacket(bytes: Buffer): DhcpPacket | Malformed {
  if (bytes.length < optionsOffset) return { malformed: 'too-short' };
  if (bytes.readUInt32BE(236) !== magicCookie) return { malformed: 'no-magic-cookie' };
  const options = new Map<number, Buffer[]>();
  if (!readOptions(bytes.subarray(optionsOffset), options)) return { malformed: 'option-overrun' };
  const overloaded = options.get(overload)?.[0]?.[0] ?? 0;
  options.delete(overload);
  // RFC 3396 §5: the aggregate reads the options field first, then file, then sname.
  const complete =
    ((overloaded & 1) === 0 || readOptions(bytes.subarray(fieldOffset.file, 236), options)) &&
    ((overloaded & 2) === 0 || readOptions(bytes.subarray(fieldOffset.sname, fieldOffset.file), options));
  if (!complete) return { malformed: 'option-overrun' };
  return { ...readHeader(bytes, overloaded), options: joined(options) };
}

/**
 * The bytes of a message. The order of options does not depend on how they were set: message type first, then by number,
 * relay agent information last (RFC 3046 §2.1); values over 255 bytes are split (RFC 3396). Padded to 300 bytes.
 */
export function encodePacket(packet: DhcpPacket): Buffer {
  const bytes = Buffer.alloc(Math.max(minimumLength, encodedLength(packet)));
  writeHeader(bytes, packet);
  bytes.writeUInt32BE(magicCookie, 236);
  writeOptions(bytes, packet.options);
  return bytes;
}

/** How much of a datagram is looked at before it is decoded: what every client takes, and so sends at first (RFC 2131 §2). */
const peekedBytes = 576;

/** The first part of an option near the start of a datagram that is not decoded yet; undefined when it is not there. */
export function peekOption(bytes: Buffer, number: number): Buffer | undefined {
  const last = Math.min(bytes.length, peekedBytes);
  for (let at = optionsOffset; at + 1 < last && bytes[at] !== end; ) {
    if (bytes[at] === pad) at++;
    else {
      const next = at + 2 + (bytes[at + 1] ?? 0);
      if (bytes[at] === number) return next > bytes.length ? undefined : bytes.subarray(at + 2, next);
      at = next;
    }
  }
  return undefined;
}

/** How long `encodePacket` makes a message with these options, before it is padded. */
export function encodedLength({ options }: Pick<DhcpPacket, 'options'>): number {
  let length = optionsOffset;
  for (const { length: ofValue } of options.values()) length += ofValue + 2 * partsOf(ofValue);
  return length + 1;
}

/** The value of a message as text, for logs: `02:00:00:00:00:01`, whatever the hardware type. */
export function hardwareAddress(packet: DhcpPacket): string {
  return hexBytes(packet.chaddr.subarray(0, Math.min(packet.hlen, 16)));
}

/** `02:00:00:00:00:01` */
export function hexBytes(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  let text = hex.slice(0, 2);
  for (let at = 2; at < hex.length; at += 2) text += `:${hex.slice(at, at + 2)}`;
  return text;
}

function readHeader(bytes: Buffer, overloaded: number): Omit<DhcpPacket, 'options'> {
  return {
    op: bytes.readUInt8(0),
    htype: bytes.readUInt8(1),
    hlen: bytes.readUInt8(2),
    hops: bytes.readUInt8(3),
    xid: bytes.readUInt32BE(4),
    secs: bytes.readUInt16BE(8),
    flags: bytes.readUInt16BE(10),
    ciaddr: addressText(bytes.readUInt32BE(12)),
    yiaddr: addressText(bytes.readUInt32BE(16)),
    siaddr: addressText(bytes.readUInt32BE(20)),
    giaddr: addressText(bytes.readUInt32BE(24)),
    chaddr: Buffer.from(bytes.subarray(28, 44)),
    sname: (overloaded & 2) === 0 ? readText(bytes.subarray(fieldOffset.sname, fieldOffset.file)) : '',
    file: (overloaded & 1) === 0 ? readText(bytes.subarray(fieldOffset.file, 236)) : '',
  };
}

function writeHeader(bytes: Buffer, packet: DhcpPacket): void {
  bytes.writeUInt8(packet.op, 0);
  bytes.writeUInt8(packet.htype, 1);
  bytes.writeUInt8(packet.hlen, 2);
  bytes.writeUInt8(packet.hops, 3);
  bytes.writeUInt32BE(packet.xid, 4);
  bytes.writeUInt16BE(packet.secs, 8);
  bytes.writeUInt16BE(packet.flags, 10);
  bytes.writeUInt32BE(addressNumber(packet.ciaddr), 12);
  bytes.writeUInt32BE(addressNumber(packet.yiaddr), 16);
  bytes.writeUInt32BE(addressNumber(packet.siaddr), 20);
  bytes.writeUInt32BE(addressNumber(packet.giaddr), 24);
  packet.chaddr.copy(bytes, 28, 0, 16);
  // One byte less than the field: the text ends with a NUL (RFC 2131 §2).
  bytes.write(packet.sname, fieldOffset.sname, 63, 'latin1');
  bytes.write(packet.file, fieldOffset.file, 127, 'latin1');
}

/** Adds the options of one area to `into`; false when a length runs past the area. A missing end option is accepted. */
function readOptions(area: Buffer, into: Map<number, Buffer[]>): boolean {
  let at = 0;
  while (at < area.length) {
    const number = area[at] ?? end;
    if (number === end) return true;
    if (number === pad) {
      at += 1;
      continue;
    }
    const length = area[at + 1];
    if (length === undefined || at + 2 + length > area.length) return false;
    const value = area.subarray(at + 2, at + 2 + length);
    const parts = into.get(number);
    if (parts === undefined) into.set(number, [value]);
    else parts.push(value);
    at += 2 + length;
  }
  return true;
}

/** Once all parts are known: a datagram may hold twenty thousand parts of one option. */
function joined(options: ReadonlyMap<number, Buffer[]>): Map<number, Buffer> {
  return new Map(Array.from(options, ([number, parts]) => [number, Buffer.concat(parts)]));
}

function writeOptions(into: Buffer, options: ReadonlyMap<number, Buffer>): void {
  const ordered = [...options].sort(([a], [b]) => optionRank(a) - optionRank(b));
  let at = optionsOffset;
  for (const [number, value] of ordered) at = writeOption(into, at, number, value);
  into[at] = end;
}

function optionRank(number: number): number {
  if (number === messageType) return -1;
  return number === relayAgentInformation ? 256 : number;
}

/** Returns where the next option goes. */
function writeOption(into: Buffer, start: number, number: number, value: Buffer): number {
  let at = start;
  for (let part = 0; part < partsOf(value.length); part++) {
    const from = part * mostOfPart;
    const length = Math.min(mostOfPart, value.length - from);
    into[at] = number;
    into[at + 1] = length;
    value.copy(into, at + 2, from, from + length);
    at += 2 + length;
  }
  return at;
}

/** An option without a value is written too. */
function partsOf(length: number): number {
  return Math.max(1, Math.ceil(length / mostOfPart));
}

function readText(field: Buffer): string {
  const length = field.indexOf(0);
  return field.toString('latin1', 0, length === -1 ? field.length : length);
}
