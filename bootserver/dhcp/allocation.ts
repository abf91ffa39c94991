import { addressNumber, addressText, inSubnet, isHostAddress } from './address.ts';
import type { ClientFacts } from './client.ts';
import type { LeaseView } from './leases.ts';
import type { AddressPool, DhcpNetwork, Reservations } from './network.ts';
import type { HostView } from './probes.ts';

/** Everything that says whose an address is, at one moment. */
export interface AddressView {
  network: DhcpNetwork;
  leases: LeaseView;
  reservations: Reservations;
  hosts: HostView;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Whether the client may have this address now: its reserved one, or a free one of the pool. */
export function mayUse(client: ClientFacts, address: string, view: AddressView): boolean {
  if (!isHostAddress(address, view.network.subnet) || address === view.network.address) return false;
  const reserved = reservedAddress(client, view);
  if (reserved !== undefined) return address === reserved && !isTaken(client, address, view);
  if (!inPool(address, view.network) || view.reservations.isReserved(address)) return false;
  return !isTaken(client, address, view);
}

/**
 * The address to offer, in the order of RFC 2131 §4.3.1: the reserved one, the one it has or had, the one it asks for,
 * any free one. Undefined when there is none.
 */
export function chooseAddress(
  client: ClientFacts,
  requested: string | undefined,
  view: AddressView,
): string | undefined {
  const wished = [reservedAddress(client, view), view.leases.ofClient(client.key)?.address, requested];
  return (
    wished.find((address) => address !== undefined && mayUse(client, address, view)) ??
    freeAddress(client, view)
  );
}

export function reservedAddress(client: ClientFacts, view: AddressView): string | undefined {
  const address = view.reservations.reservation(client.key)?.address;
  // Of a machine with several networks only one is meant.
  return address !== undefined && inSubnet(address, view.network.subnet) ? address : undefined;
}

/** Whether somebody else holds the address, or a host that we did not give it to answers there. */
function isTaken(client: ClientFacts, address: string, view: AddressView): boolean {
  const lease = view.leases.at(address);
  const live = lease !== undefined && lease.expiresAt > view.now;
  if (live && (lease.state === 'declined' || lease.key !== client.key)) return true;
  // A client that uses its address keeps it, whoever else does.
  if (live && lease.state === 'bound') return false;
  const host = view.hosts.hostAt(address);
  return host !== undefined && host !== client.mac;
}

function inPool(address: string, { pool, ...network }: DhcpNetwork): boolean {
  if (pool === undefined || address === network.router) return false;
  const number = addressNumber(address);
  return number >= addressNumber(pool.first) && number <= addressNumber(pool.last);
}

/**
 * A free address of the pool, the first from a point that the client's key decides: so a client finds its address again
 * after a loss of the database. Those at which nobody answered a probe come first, then others that nobody had, then
 * expired ones.
 */
function freeAddress(client: ClientFacts, view: AddressView): string | undefined {
  const { pool } = view.network;
  if (pool === undefined) return undefined;
  const { first, size } = range(pool);
  const start = hash(client.key) % size;
  const probed = firstFrom(start, pool, view.hosts.unanswered(), (address) => {
    return view.leases.at(address) === undefined && mayUse(client, address, view);
  });
  if (probed !== undefined) return probed;
  let expired: string | undefined;
  for (let step = 0; step < size; step++) {
    const address = addressText(first + ((start + step) % size));
    if (!mayUse(client, address, view)) continue;
    if (view.leases.at(address) === undefined) return address;
    expired ??= address;
  }
  return expired;
}

/** Of those that pass, the first that comes at `start` or after it in the pool, around its end. */
function firstFrom(
  start: number,
  pool: AddressPool,
  addresses: Iterable<string>,
  passes: (address: string) => boolean,
): string | undefined {
  const { first, size } = range(pool);
  const distance = (address: string) => (addressNumber(address) - first - start + size) % size;
  return [...addresses].filter(passes).toSorted((one, other) => distance(one) - distance(other))[0];
}

/** Addresses that the next strangers may get, at most `count`: what is probed ahead of need. */
export function candidates(view: AddressView, count: number): string[] {
  const { pool } = view.network;
  if (pool === undefined) return [];
  const found: string[] = [];
  const { first, size } = range(pool);
  for (let step = 0; step < size && found.length < count; step++) {
    const address = addressText(first + step);
    if (isFree(address, view) && view.hosts.hostAt(address) === undefined) found.push(address);
  }
  return found;
}

/** How full the pool is. */
export function poolUse(view: AddressView): {
  size: number;
  free: number;
  declined: number;
  foreignHosts: number;
} {
  const use = { size: 0, free: 0, declined: 0, foreignHosts: 0 };
  const { pool } = view.network;
  if (pool === undefined) return use;
  const { first, size } = range(pool);
  for (let step = 0; step < size; step++) {
    const address = addressText(first + step);
    const lease = view.leases.at(address);
    if (lease?.state === 'declined' && lease.expiresAt > view.now) use.declined++;
    if (!isFree(address, view)) continue;
    if (view.hosts.hostAt(address) === undefined) use.free++;
    else use.foreignHosts++;
  }
  return { ...use, size };
}

/** Whether the pool's address is nobody's, as far as we gave it. */
function isFree(address: string, view: AddressView): boolean {
  const lease = view.leases.at(address);
  if (lease !== undefined && lease.expiresAt > view.now) return false;
  if (address === view.network.address || !isHostAddress(address, view.network.subnet)) return false;
  return inPool(address, view.network) && !view.reservations.isReserved(address);
}

function range(pool: AddressPool): { first: number; size: number } {
  const first = addressNumber(pool.first);
  return { first, size: addressNumber(pool.last) - first + 1 };
}

/** FNV-1a, 32 bits: spreads MACs of one vendor over the pool. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (const byte of Buffer.from(text)) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0;
  return sum;
}
