import { addressNumber, inPrefix, numberAddress } from './address.ts';
import type { Client6Facts } from './client.ts';
import { type Lease6View, machineKey } from './leases.ts';
import type { Dhcp6Network, Dhcp6Site, Pool6, Reservations6 } from './network.ts';

/** Everything that says whose an address is, at one moment. */
export interface Address6View {
  site: Dhcp6Site;
  leases: Lease6View;
  reservations: Reservations6;
  /** The pool was looked through a moment ago, and had nothing: it is not looked through again. */
  poolIsFull: boolean;
  /** Milliseconds since the epoch. */
  now: number;
}

/** One identity association of one client on its link. */
export interface Asker {
  key: string;
  client: Client6Facts;
  network: Dhcp6Network;
}

/**
 * Whose a lease is. Firmware, iPXE and the ramdisk of one machine have DUIDs and association numbers of their own, in OVMF
 * another number in every boot: a machine that is known by its interface keeps one address through all of them. Where it asks
 * for several at once, or its interface is not known, the client's own words count (RFC 8415 §12).
 */
export function associationKey(client: Client6Facts, iaid: number, isOnlyOne: boolean): string {
  if (client.mac === undefined) return `duid/${client.duid?.toString('hex')}/${iaid}`;
  return isOnlyOne ? machineKey(client.mac) : `${machineKey(client.mac)}/${iaid}`;
}

/** Whether the association may have this address now: the reserved one, or a free one of the pool. */
export function mayUse(address: string, asker: Asker, view: Address6View): boolean {
  const { network } = asker;
  if (!inPrefix(address, network) || address === view.site.address) return false;
  if (isTaken(address, asker.key, view)) return false;
  const reserved = reservedAddress(asker, view);
  if (reserved !== undefined) return address === reserved;
  return inPool(address, network) && !view.reservations.isReserved(address);
}

/** The address to offer: the reserved one, the one it has or had, one that it asks for, any free one. Undefined when there is none. */
export function chooseAddress(
  wishes: readonly string[],
  asker: Asker,
  view: Address6View,
): string | undefined {
  const held = view.leases.ofClient(asker.key)?.address;
  const known = [reservedAddress(asker, view), held, ...wishes];
  return (
    known.find((address) => address !== undefined && mayUse(address, asker, view)) ?? freeAddress(asker, view)
  );
}

/** The machine's own address; of several associations of one client only the first has it. */
function reservedAddress({ client, network }: Asker, { reservations }: Address6View): string | undefined {
  const address = client.mac === undefined ? undefined : reservations.addressOf(client.mac);
  return address !== undefined && inPrefix(address, network) ? address : undefined;
}

function isTaken(address: string, key: string, { leases, now }: Address6View): boolean {
  const lease = leases.at(address);
  if (lease === undefined || lease.expiresAt <= now) return false;
  return lease.state === 'declined' || lease.key !== key;
}

function inPool(address: string, { pool }: Dhcp6Network): boolean {
  if (pool === undefined) return false;
  const number = addressNumber(address);
  return number >= addressNumber(pool.first) && number <= addressNumber(pool.last);
}

/**
 * A free address of the pool, the first from a point that the key decides: so a client finds its address again after a loss of
 * the database. Those that nobody had come first, then expired ones.
 */
function freeAddress(asker: Asker, view: Address6View): string | undefined {
  const { pool } = asker.network;
  if (pool === undefined || view.poolIsFull) return undefined;
  const { first, size } = range(pool);
  const start = hash(asker.key) % size;
  let expired: string | undefined;
  for (let step = 0; step < size; step++) {
    const address = numberAddress(first + BigInt((start + step) % size));
    const isNew = view.leases.at(address) === undefined;
    if ((!isNew && expired !== undefined) || !mayUse(address, asker, view)) continue;
    if (isNew) return address;
    expired = address;
  }
  return expired;
}

/** Configuration bounds a pool to 65,536 addresses. */
function range(pool: Pool6): { first: bigint; size: number } {
  const first = addressNumber(pool.first);
  return { first, size: Number(addressNumber(pool.last) - first) + 1 };
}

/** FNV-1a, 32 bits: spreads MACs of one vendor over the pool. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (const byte of Buffer.from(text)) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0;
  return sum;
}
