import { dhcpOptions, readOption } from './options.ts';
import { type DhcpPacket, encodedLength } from './packet.ts';

/** What every client takes: an IP datagram of 576 bytes (RFC 2131 §2), of which 28 are its headers. */
const leastMaximum = 576;
const headers = 28;
/** More than an Ethernet frame holds would be cut into pieces, which boot ROMs do not put together. */
const mostMaximum = 1500;

/** What a client lives without, the first to go first; options that the operator added go before all of these. */
const dispensable = (
  [
    'domainSearch',
    'microsoftRoutes',
    'staticRoutes',
    'ntpServers',
    'domainName',
    'hostname',
    'subnetSelection',
    'clientId',
  ] as const
).map((name) => dhcpOptions[name].number);
const known = new Set<number>(Object.values(dhcpOptions).map(({ number }) => number));

/**
 * A reply no longer than its client takes (option 57). What does not fit is left out: to put options into the fields of the boot
 * file (option 52) would hide that from firmware. Returns the reply and the numbers of what was left out.
 */
export function fitted(reply: DhcpPacket, request: DhcpPacket): { reply: DhcpPacket; leftOut: number[] } {
  const asked = readOption(request.options, 'maximumSize') ?? leastMaximum;
  const most = Math.min(Math.max(asked, leastMaximum), mostMaximum) - headers;
  if (encodedLength(reply) <= most) return { reply, leftOut: [] };
  const options = new Map(reply.options);
  const added = [...options.keys()].filter((number) => !known.has(number)).toSorted((a, b) => b - a);
  const leftOut: number[] = [];
  for (const number of [...added, ...dispensable]) {
    if (encodedLength({ options }) <= most) break;
    if (options.delete(number)) leftOut.push(number);
  }
  return { reply: { ...reply, options }, leftOut };
}
