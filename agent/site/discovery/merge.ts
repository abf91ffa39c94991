import type { Sighting } from '#bootserver/sighting.ts';
import { mostMacs, type SeenMachine } from '#contract/seenMachine.ts';

/** A machine as it is after a sighting. Facts that the sighting has replace older ones: firmware is updated, cables are moved. */
export function withSighting(known: SeenMachine | undefined, sighting: Sighting, now: number): SeenMachine {
  const { mac, isNewBoot, ...facts } = sighting;
  const at = new Date(now).toISOString();
  const before: SeenMachine = known ?? { machineId: mac, macs: [], firstSeen: at, lastSeen: at, boots: 0 };
  return {
    ...before,
    ...facts,
    macs: before.macs.includes(mac) ? before.macs : [...before.macs, mac],
    lastSeen: at,
    boots: before.boots + (isNewBoot ? 1 : 0),
  };
}

/** Two records that turned out to be one machine: the older one's identity, the newer one's facts. */
export function united(one: SeenMachine, other: SeenMachine): SeenMachine {
  const [older, newer] = one.firstSeen <= other.firstSeen ? [one, other] : [other, one];
  return {
    ...older,
    ...newer,
    machineId: older.machineId,
    macs: [...new Set([...older.macs, ...newer.macs])],
    firstSeen: older.firstSeen,
    boots: older.boots + newer.boots,
  };
}

/**
 * Whether interfaces that name one product UUID are taken for one machine. Many boards share a UUID, and anybody can name one: addresses
 * of different nodes are different machines, one that no node has is none of a node's, and more than any machine has are several.
 */
export function mayBeOne(
  macs: readonly string[],
  others: readonly string[],
  nodeOf: (mac: string) => string | undefined,
): boolean {
  const all = new Set([...macs, ...others]);
  const nodes = new Set([...all].map(nodeOf));
  return all.size <= mostMacs && nodes.size <= 1;
}
