import type { Inventory } from '#contract/inventory.ts';
import { isSameUuid } from '#contract/productUuid.ts';

/** What a node's machine is known by. */
export interface KnownIdentity {
  uuid: string | null;
  /** Hardware addresses that PXE discovery bound: whoever is on that network could have shown them. */
  discoveredMacs: readonly string[];
}

/** What shows that a machine is not the one enrolled. */
export interface IdentityMismatch {
  what: 'uuid' | 'mac';
  expected: string;
  found: string[];
}

/**
 * Why the machine that tells this inventory is another one than the node's: its product UUID is no spelling of the enrolled one, or it
 * has no NIC with an address that discovery bound. A board that tells no UUID is not told apart by it.
 */
export function identityMismatch(
  { system, nics }: Pick<Inventory, 'system' | 'nics'>,
  { uuid, discoveredMacs }: KnownIdentity,
): IdentityMismatch | undefined {
  if (uuid !== null && system.uuid !== undefined && !isSameUuid(uuid, system.uuid))
    return { what: 'uuid', expected: uuid, found: [system.uuid] };
  const addresses = nics.map(({ mac }) => mac.toLowerCase());
  const missing = discoveredMacs.find((mac) => !addresses.includes(mac));
  return missing === undefined ? undefined : { what: 'mac', expected: missing, found: addresses };
}
