import type { Trouble } from '../troubles.ts';
import { noAddress } from './address.ts';
import { bootFields } from './bootFields.ts';
import { buildBootReply } from './bootReply.ts';
import { type BootView, bootContext } from './bootView.ts';
import type { ClientFacts } from './client.ts';
import { readOption } from './options.ts';
import type { DhcpPacket } from './packet.ts';
import { saysNothing } from './proxy.ts';
import { messageType } from './reply.ts';
import { bootItem } from './vendorOptions.ts';

export type BootServerDecision = { reply: DhcpPacket } | { silent: string; trouble?: Trouble };

/** What a client that has its address asks a boot server: a REQUEST (PXE 2.1 §2.5.1.1), or an INFORM, as some do. */
const asked: readonly number[] = [messageType.request, messageType.inform];

/**
 * One message on port 4011. The client may have learnt of us from another server's offer alone, so nothing is asked of an earlier
 * message, and whatever server option 54 names, it is we who were asked.
 */
export function decideOn4011(packet: DhcpPacket, client: ClientFacts, view: BootView): BootServerDecision {
  if (packet.op !== 1) return { silent: 'not from a client' };
  if (!asked.includes(readOption(packet.options, 'messageType') ?? 0))
    return { silent: 'neither a REQUEST nor an INFORM' };
  const item = bootItem(readOption(packet.options, 'vendorSpecific'));
  if (item?.wantsCredentials)
    return {
      silent: 'it wants credentials of the Boot Integrity Services, which are not served',
      trouble: 'boot-integrity',
    };
  const boot = bootFields(client, {
    ...bootContext(client, view),
    ...(item !== undefined && { bootItem: item.bytes }),
  });
  if (saysNothing(boot)) return { silent: 'there is no boot file for it' };
  return { reply: buildBootReply(packet, messageType.ack, view.network.address, boot) };
}

/** Where an answer on port 4011 goes: back to whom it came from, from that same port (iPXE drops others). */
export function destinationOn4011(
  { ciaddr }: DhcpPacket,
  from: { address: string; port: number },
): { address: string; port: number } {
  if (from.address !== noAddress) return from;
  return { address: ciaddr === noAddress ? '255.255.255.255' : ciaddr, port: from.port };
}
