import { addressText } from './address.ts';
import type { DhcpPacket } from './packet.ts';

/** Sub-options of option 82 (RFC 3046 §2.0). */
const subOption = { circuitId: 1, remoteId: 2, linkSelection: 5 } as const;

/** The link selection of a relay (RFC 3527 §3): an address on the client's link, where `giaddr` is on another one. */
export function linkSelection(relayAgent: Buffer | undefined): string | undefined {
  const value = relayAgent && findSubOption(relayAgent, subOption.linkSelection);
  return value?.length === 4 ? addressText(value.readUInt32BE()) : undefined;
}

/** The port that a relay says the client is plugged in at (RFC 3046 §3.1, §3.2): as text where it is text, else in hex. */
export function relayPort({ options }: DhcpPacket): { circuitId?: string; remoteId?: string } {
  const relayAgent = options.get(82);
  const circuitId = relayAgent && findSubOption(relayAgent, subOption.circuitId);
  const remoteId = relayAgent && findSubOption(relayAgent, subOption.remoteId);
  return {
    ...(circuitId !== undefined && { circuitId: readable(circuitId) }),
    ...(remoteId !== undefined && { remoteId: readable(remoteId) }),
  };
}

function readable(value: Buffer): string {
  const text = value.toString('latin1');
  return (/^[\x20-\x7e]+$/.test(text) ? text : value.toString('hex')).slice(0, 128);
}

/** One sub-option's value; undefined when it is absent or a length runs past the end. */
function findSubOption(relayAgent: Buffer, number: number): Buffer | undefined {
  for (let at = 0; at + 2 <= relayAgent.length; ) {
    const next = at + 2 + (relayAgent[at + 1] ?? 0);
    if (next > relayAgent.length) return undefined;
    if (relayAgent[at] === number) return relayAgent.subarray(at + 2, next);
    at = next;
  }
  return undefined;
}
