import { addressNumber, addressText, isHostAddress } from './address.ts';
import type { ClientFacts } from './client.ts';
import type { LeaseView } from './leases.ts';
import type { DhcpNetwork, Reservations } from './network.ts';

/** Everything that says whose an address is, at one moment. */
export interface AddressView {
  network: DhcpNetwork;
  leases: LeaseView;
  reservations: Reservations;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Whether the client may have this address now: its reserved one, or a free one of the pool. */
export function mayUse(client: ClientFacts, address: string, view: AddressView): boolean {
  if (!isHostAddress(address, view.network) || address === view.network.address) return false;
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
  return client.mac === undefined ? undefined : view.reservations.reservation(client.mac)?.address;
}

/** Whether somebody else holds the address, or a host that we did not give it to answers there. */
function isTaken(client: ClientFacts, address: string, view: AddressView): boolean {
  const lease = view.leases.at(address);
  if (lease === undefined || lease.expiresAt <= view.now) return false;
  return lease.state === 'declined' || lease.key !== client.key;
}

function inPool(address: string, { pool, ...network }: DhcpNetwork): boolean {
  if (pool === undefined || address === network.router) return false;
  const number = addressNumber(address);
  return number >= addressNumber(pool.first) && number <= addressNumber(pool.last);
}

/**
 * A free address of the pool, the first from a point that the client's key decides: so a client finds its address again
 * after a loss of the database. Addresses that nobody had come first; then expired ones.
 */
function freeAddress(client: ClientFacts, view: AddressView): string | undefined {
  const { pool } = view.network;
  if (pool === undefined) return undefined;
  const first = addressNumber(pool.first);
  const size = addressNumber(pool.last) - first + 1;
  const start = hash(client.key) % size;
  let expired: string | undefined;
  for (let step = 0; step < size; step++) {
    const address = addressText(first + ((start + step) % size));
    if (!mayUse(client, address, view)) continue;
    if (view.leases.at(address) === undefined) return address;
    expired ??= address;
  }
  return expired;
}

/** FNV-1a, 32 bits: spreads MACs of one vendor over the pool. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (const byte of Buffer.from(text)) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0;
  return sum;
}
