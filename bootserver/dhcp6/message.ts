import { ipv6Bytes, ipv6Text } from '#base/ipv6Address.ts';

/** Message types (RFC 8415 §7.3). */
export const messageType = {
  solicit: 1,
  advertise: 2,
  request: 3,
  confirm: 4,
  renew: 5,
  rebind: 6,
  reply: 7,
  release: 8,
  decline: 9,
  informationRequest: 11,
  relayForward: 12,
  relayReply: 13,
} as const;

/** All_DHCP_Relay_Agents_and_Servers (RFC 8415 §7.1): whom clients and relays ask. */
export const allServers = 'ff02::1:2';

/** One option as it stands in a message: its bytes are not looked into. An option may come several times. */
export interface RawOption {
  code: number;
  value: Buffer;
}

/** A message between client and server (RFC 8415 §8). */
export interface Dhcp6Message {
  type: number;
  /** 24 bits. */
  transactionId: number;
  options: RawOption[];
}

/** A message between relay and server, which holds another one in its option 9 (RFC 8415 §9). */
export interface RelayMessage {
  type: typeof messageType.relayForward | typeof messageType.relayReply;
  hopCount: number;
  /** An address of the link that the client, or the next relay, is on; `::` where that is not said. */
  linkAddress: string;
  /** Whom the relay had it from. */
  peerAddress: string;
  options: RawOption[];
}

/** Why bytes are no DHCPv6 message. */
export type Malformed = { malformed: 'too-short' | 'option-overrun' };

const clientHeader = 4;
const relayHeader = 34;
const optionHeader = 4;

/** The message in a datagram, or why there is none. Total: never throws. */
export function decodeMessage(bytes: Buffer): Dhcp6Message | RelayMessage | Malformed {
  const type = bytes[0];
  const isRelay = type === messageType.relayForward || type === messageType.relayReply;
  const header = isRelay ? relayHeader : clientHeader;
  if (type === undefined || bytes.length < header) return { malformed: 'too-short' };
  const options = decodeOptions(bytes.subarray(header));
  if (options === undefined) return { malformed: 'option-overrun' };
  if (!isRelay) return { type, transactionId: bytes.readUIntBE(1, 3), options };
  return {
    type,
    hopCount: bytes.readUInt8(1),
    linkAddress: ipv6Text(bytes.subarray(2, 18)),
    peerAddress: ipv6Text(bytes.subarray(18, 34)),
    options,
  };
}

export function isRelayMessage(message: Dhcp6Message | RelayMessage): message is RelayMessage {
  return 'linkAddress' in message;
}

export function encodeMessage(message: Dhcp6Message | RelayMessage): Buffer {
  const header = isRelayMessage(message) ? relayBytes(message) : clientBytes(message);
  return Buffer.concat([header, encodeOptions(message.options)]);
}

/** The options of a message, or those that an option holds; undefined when a length runs past the end. */
export function decodeOptions(bytes: Buffer): RawOption[] | undefined {
  const options: RawOption[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + optionHeader > bytes.length) return undefined;
    const end = at + optionHeader + bytes.readUInt16BE(at + 2);
    if (end > bytes.length) return undefined;
    options.push({ code: bytes.readUInt16BE(at), value: bytes.subarray(at + optionHeader, end) });
    at = end;
  }
  return options;
}

export function encodeOptions(options: readonly RawOption[]): Buffer {
  return Buffer.concat(
    options.flatMap(({ code, value }) => {
      const header = Buffer.alloc(optionHeader);
      header.writeUInt16BE(code, 0);
      header.writeUInt16BE(value.length, 2);
      return [header, value];
    }),
  );
}

function clientBytes({ type, transactionId }: Dhcp6Message): Buffer {
  const bytes = Buffer.alloc(clientHeader);
  bytes.writeUInt8(type, 0);
  bytes.writeUIntBE(transactionId, 1, 3);
  return bytes;
}

function relayBytes({ type, hopCount, linkAddress, peerAddress }: RelayMessage): Buffer {
  return Buffer.concat([Buffer.from([type, hopCount]), ipv6Bytes(linkAddress), ipv6Bytes(peerAddress)]);
}
