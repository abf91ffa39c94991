import { noAddress } from './address.ts';
import type { BootFields } from './bootFields.ts';
import type { DhcpNetwork, Reservation } from './network.ts';
import { dhcpOptions, type OptionName, type OptionValues, readOption, writeOptions } from './options.ts';
import { broadcastFlag, type DhcpPacket } from './packet.ts';
import { settingsOptions } from './settings.ts';

/** DHCP message types (RFC 2132 §9.6). */
export const messageType = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  ack: 5,
  nak: 6,
  release: 7,
  inform: 8,
} as const;

export interface ReplyContent {
  type: typeof messageType.offer | typeof messageType.ack;
  /** Undefined in the answer to an INFORM: the client has an address already. */
  address?: string;
  /** With an address: for how long. */
  leaseSeconds?: number;
  /** What the site has decided for this machine. */
  reservation?: Reservation;
  boot: BootFields;
}

/** OFFER and ACK alike, so that the ACK cannot contradict the offer (RFC 2131 §3.1 step 4). */
export function buildReply(request: DhcpPacket, network: DhcpNetwork, content: ReplyContent): DhcpPacket {
  const { type, address, leaseSeconds, reservation, boot } = content;
  const settings = settingsOptions(request, network, reservation);
  return {
    ...replyHeader(request),
    ciaddr: type === messageType.ack ? request.ciaddr : noAddress,
    yiaddr: address ?? noAddress,
    siaddr: boot.server ?? noAddress,
    file: boot.file ?? '',
    // What decides about the boot and the lease goes before what an operator adds.
    options: new Map([
      ...settings,
      ...withEchoes(request, {
        messageType: type,
        serverId: network.address,
        ...(leaseSeconds !== undefined && leaseTimes(leaseSeconds)),
        ...boot.options,
      }),
    ]),
  };
}

/** A refusal: no address, no lease, no boot fields (RFC 2131 table 3). `reason` is for whoever reads a capture. */
export function buildNak(request: DhcpPacket, network: DhcpNetwork, reason: string): DhcpPacket {
  const header = replyHeader(request);
  return {
    ...header,
    // Behind a relay the client may be on another network now: the relay shall broadcast (RFC 2131 §4.3.2).
    flags: request.giaddr === noAddress ? header.flags : header.flags | broadcastFlag,
    options: withEchoes(
      request,
      { messageType: messageType.nak, serverId: network.address, message: reason },
      echoedByNak,
    ),
  };
}

/** The fields of every reply: those of the request that stay (RFC 2131 table 3), the others zero. */
export function replyHeader(request: DhcpPacket): DhcpPacket {
  return {
    ...request,
    op: 2,
    hops: 0,
    secs: 0,
    ciaddr: noAddress,
    yiaddr: noAddress,
    siaddr: noAddress,
    sname: '',
    file: '',
    options: new Map(),
  };
}

/** T1 and T2 at the fractions of RFC 2131 §4.4.5. */
function leaseTimes(leaseSeconds: number): OptionValues {
  return {
    leaseSeconds,
    renewalSeconds: Math.floor(leaseSeconds / 2),
    rebindingSeconds: Math.floor((leaseSeconds * 7) / 8),
  };
}

/**
 * Sent back as they came: client identifier (RFC 6842), relay information (RFC 3046 §2.2), machine identifier (RFC 4578 §2.3),
 * subnet selection (RFC 3011 §2).
 */
const echoed: readonly OptionName[] = ['clientId', 'relayAgent', 'machineId', 'subnetSelection'];
const echoedByNak: readonly OptionName[] = ['clientId', 'relayAgent'];
/** More than one option holds is no value that a client or relay means. */
const longestEcho = 255;

export function withEchoes(request: DhcpPacket, values: OptionValues, names = echoed): Map<number, Buffer> {
  const options = writeOptions(values);
  for (const name of names) {
    const { number } = dhcpOptions[name];
    const value = request.options.get(number);
    if (value === undefined || value.length > longestEcho) continue;
    if (name !== 'machineId' || isMachineId(request)) options.set(number, value);
  }
  return options;
}

function isMachineId(request: DhcpPacket): boolean {
  return readOption(request.options, 'machineId')?.length === 17;
}
