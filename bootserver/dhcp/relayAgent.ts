import { addressText } from './address.ts';

/** Sub-options of option 82 (RFC 3046 §2.0). */
const subOption = { linkSelection: 5 } as const;

/** The link selection of a relay (RFC 3527 §3): an address on the client's link, where `giaddr` is on another one. */
export function linkSelection(relayAgent: Buffer | undefined): string | undefined {
  const value = relayAgent && findSubOption(relayAgent, subOption.linkSelection);
  return value?.length === 4 ? addressText(value.readUInt32BE()) : undefined;
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
