import { isUnspecified, macOfAddress, macText } from './address.ts';
import {
  type Dhcp6Message,
  decodeMessage,
  encodeMessage,
  isRelayMessage,
  type Malformed,
  messageType,
  type RawOption,
  type RelayMessage,
} from './message.ts';
import { allOf, dhcp6Options, readOption, writeOptions } from './options.ts';

/** A client's message, and the relays that brought it, the one next to the server first. */
export interface Relayed {
  message: Dhcp6Message;
  relays: RelayMessage[];
}

/** More relays than these pass no message on (HOP_COUNT_LIMIT, RFC 8415 §7.6). */
const mostRelays = 8;

/** Takes a message out of its relays' envelopes. Total: never throws. */
export function unwrap(bytes: Buffer): Relayed | Malformed | { malformed: 'relay' } {
  const relays: RelayMessage[] = [];
  let inner = bytes;
  for (;;) {
    const message = decodeMessage(inner);
    if ('malformed' in message) return message;
    if (!isRelayMessage(message)) return { message, relays };
    const held = readOption(message.options, 'relayMessage');
    const isForward = message.type === messageType.relayForward;
    if (!isForward || held === undefined || relays.length === mostRelays) return { malformed: 'relay' };
    relays.push(message);
    inner = held;
  }
}

/**
 * The reply in an envelope for each relay (RFC 8415 §19.3): hop count, link and peer as they came, what the relay wants back (its
 * interface-id always, others by RFC 4994), the inner message.
 */
export function wrap(reply: Dhcp6Message, relays: readonly RelayMessage[]): Buffer {
  return relays.reduceRight((inner: Buffer, relay) => {
    const held = writeOptions({ relayMessage: inner });
    const options = [...echoed(relay.options), ...held];
    return encodeMessage({ ...relay, type: messageType.relayReply, options });
  }, encodeMessage(reply));
}

/** An address of the client's link, as the relay next to it says; undefined: the link of the interface that it came in by. */
export function relayedLink(relays: readonly RelayMessage[]): string | undefined {
  // A relay on a switch (RFC 6221) says no link, and leaves that to the next one.
  return relays.findLast(({ linkAddress }) => !isUnspecified(linkAddress))?.linkAddress;
}

/** The MAC of the client's interface as its own relay saw it: RFC 6939, else from the address that it sent from. */
export function relayedMac(relays: readonly RelayMessage[]): string | undefined {
  const nearest = relays.at(-1);
  if (nearest === undefined) return undefined;
  const seen = readOption(nearest.options, 'clientLinkLayer');
  const isEthernet = seen?.length === 8 && seen.readUInt16BE() === 1;
  return isEthernet ? macText(seen.subarray(2)) : macOfAddress(nearest.peerAddress);
}

/** Whether the relay wants its answer at the port that it asked from (RFC 8357), not at 547. */
export function answersAtSource(relays: readonly RelayMessage[]): boolean {
  return relays[0] !== undefined && allOf(relays[0].options, 'relaySourcePort').length > 0;
}

function echoed(options: readonly RawOption[]): RawOption[] {
  const { interfaceId, relaySourcePort } = dhcp6Options;
  const wanted = [interfaceId.code, relaySourcePort.code, ...(readOption(options, 'echoRequest') ?? [])];
  return options.filter(({ code }) => wanted.includes(code) && code !== dhcp6Options.relayMessage.code);
}
