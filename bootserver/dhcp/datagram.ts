import type { RemoteInfo } from 'node:dgram';
import type { Log } from '#base/log.ts';
import type { PacketTap } from '../packetTap.ts';
import { type DhcpPacket, decodePacket } from './packet.ts';
import { tapRequest } from './tapped.ts';

/** What came on one of our sockets. */
export interface Datagram {
  bytes: Buffer;
  from: RemoteInfo;
}

/** Where it came to. */
export interface Arrival {
  own: string;
  port: 67 | 4011;
  tap?: PacketTap | undefined;
  log: Log;
}

/** Has the message in a datagram answered. Nothing that a client sends gets past here as an exception. */
export function answerDatagram(
  { bytes, from }: Datagram,
  { own, port, tap, log }: Arrival,
  answer: (packet: DhcpPacket) => void,
): void {
  try {
    const packet = decodePacket(bytes);
    if ('malformed' in packet) log.debug({ from: from.address, ...packet }, 'no DHCP message');
    else {
      tapRequest(tap, packet, { bytes, from, own, port });
      answer(packet);
    }
  } catch (error) {
    log.error({ err: error, from: from.address }, `a DHCP message on port ${port} could not be answered`);
  }
}
