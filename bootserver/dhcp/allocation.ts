import { addressNumber, addressText, inSubnet, isHostAddress } from './address.ts';
import type { ClientFacts } from './client.ts';
import type { Lease, LeaseView } from './leases.ts';
import type { AddressPool, DhcpNetwork, Reservations } from './network.ts';
import type { HostView } from './probes.ts';

/** Everything that says whose an address is, at one moment. */
export interface AddressView {
  network: DhcpNetwork;
  leases: LeaseView;
  reservations: Reservations;
  hosts: HostView;
  /** Leases may have been lost, or offers with a restart a moment ago: who says that an address is his is believed while it is free. */
  isForgetful?: boolean;
  /** Milliseconds since the epoch. */
  now: number;
}

/** How long an offered address waits for its client: firmware collects offers for up to 4 s, and asks again for a minute. */
export const offerMs = 2 * 60_000;
/** When there is no other address, one that was offered so long ago and not asked for is given to the next client. */
const patienceMs = 10_000;
/** One address in so many of a pool, its last ones, is kept for machines that the site has named: strangers can take up all others. */
const keptOneIn = 20;
const mostKept = 256;

/** Whether the client may have this address now: its reserved one, or a free one of the pool. */
export function mayUse(client: ClientFacts, address: string, view: AddressView): boolean {
  const lease = view.leases.at(address);
  if (lease !== undefined && lease.expiresAt > view.now) {
    if (lease.state === 'declined' || lease.key !== client.key) return false;
    // A client that uses its address keeps it, whoever else does.
    if (lease.state === 'bound') return isMeantFor(client, address, view);
  }
  return isMeantFor(client, address, view) && isOpenTo(client, address, view);
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
  const reserved = reservedAddress(client, view);
  const wished = [reserved, view.leases.ofClient(client.key)?.address, requested];
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

/** Whether the address is one that the client could have if nobody else had it: of the pool only while it has none of its own. */
function isMeantFor(client: ClientFacts, address: string, view: AddressView): boolean {
  const reserved = reservedAddress(client, view);
  if (reserved === undefined || isBlocked(client, reserved, view)) return isOfPool(address, view);
  return address === reserved;
}

/** Whether somebody else has the address that is reserved for the client, or it is no address for a host. */
function isBlocked(client: ClientFacts, reserved: string, view: AddressView): boolean {
  const { address, subnet } = view.network;
  if (reserved === address || !isHostAddress(reserved, subnet)) return true;
  const lease = view.leases.at(reserved);
  const isTaken = lease !== undefined && lease.expiresAt > view.now;
  if (isTaken && (lease.state === 'declined' || lease.key !== client.key)) return true;
  return lease?.state !== 'bound' && isForeign(client, reserved, view);
}

/** Whether the address is one of the pool's for strangers. */
function isOfPool(address: string, { network, reservations }: AddressView): boolean {
  const { pool } = network;
  if (pool === undefined || address === network.router || address === network.address) return false;
  if (!isHostAddress(address, network.subnet) || reservations.isReserved(address)) return false;
  const number = addressNumber(address);
  return number >= addressNumber(pool.first) && number <= addressNumber(pool.last);
}

/** Whether the client may have an address of the pool that it does not have yet. */
function isOpenTo(client: ClientFacts, address: string, view: AddressView): boolean {
  return !isForeign(client, address, view) && (isNamed(client, view) || !isKept(address, view));
}

/** Whether the site has said something of the client. */
export function isNamed(
  { key }: { key: string },
  { reservations }: Pick<AddressView, 'reservations'>,
): boolean {
  return reservations.reservation(key) !== undefined;
}

function isKept(address: string, { network: { pool } }: AddressView): boolean {
  if (pool === undefined) return false;
  const { first, size } = range(pool);
  return addressNumber(address) >= first + size - keptOf(size);
}

function keptOf(size: number): number {
  return Math.min(Math.floor(size / keptOneIn), mostKept);
}

/** Whether a host that we did not give it to answers at the address. */
function isForeign({ mac }: Pick<ClientFacts, 'mac'>, address: string, { hosts }: AddressView): boolean {
  const host = hosts.hostAt(address);
  return host !== undefined && host !== mac;
}

/**
 * A free address of the pool, the first from a point that the client's key decides: so a client finds its address again
 * after a loss of the database. Those at which nobody answered a probe come first, then others that nobody had, then
 * expired ones, then those that were offered in vain.
 */
function freeAddress(client: ClientFacts, view: AddressView): string | undefined {
  const { pool } = view.network;
  if (pool === undefined) return undefined;
  const { first, size } = range(pool);
  const start = addressText(first + (hash(client.key) % size));
  const passes = (address: string) => isOfPool(address, view) && isOpenTo(client, address, view);
  const unused = (address: string) => view.leases.at(address) === undefined && passes(address);
  return (
    nearest(start, pool, [...view.hosts.unanswered()].filter(unused)) ??
    firstOf(view.leases.unusedFrom(start), passes) ??
    firstOf(ended(view), passes) ??
    (isNamed(client, view) ? firstOf(idle(view), passes) : undefined)
  );
}

/** Of the addresses, the first that comes at `start` or after it in the pool, around its end. */
function nearest(start: string, pool: AddressPool, addresses: string[]): string | undefined {
  const { first, size } = range(pool);
  const from = addressNumber(start) - first;
  const distance = (address: string) => (addressNumber(address) - first - from + size) % size;
  return addresses.toSorted((one, other) => distance(one) - distance(other))[0];
}

/** Addresses whose lease has ended, then those of offers that nobody took up. */
function* ended({ leases, now }: Pick<AddressView, 'leases' | 'now'>): Iterable<string> {
  yield* endedBefore(now, leases.endingFirst('released'));
  yield* endedBefore(now, leases.endingFirst('bound'));
  yield* endedBefore(now, leases.endingFirst('declined'));
  yield* endedBefore(now + offerMs - patienceMs, leases.endingFirst('offered'));
}

/** Addresses that strangers hold without use: offers that wait for an answer, and what they say that other hosts have. */
function* idle({ leases, reservations }: AddressView): Iterable<string> {
  for (const state of ['offered', 'declined'] as const)
    for (const lease of leases.endingFirst(state)) if (!isNamed(lease, { reservations })) yield lease.address;
}

function* endedBefore(time: number, leases: Iterable<Lease>): Iterable<string> {
  for (const { address, expiresAt } of leases) {
    if (expiresAt > time) return;
    yield address;
  }
}

function firstOf(addresses: Iterable<string>, passes: (address: string) => boolean): string | undefined {
  for (const address of addresses) if (passes(address)) return address;
  return undefined;
}

/** Addresses that the next strangers may get, at most `count`: what is probed ahead of need. */
export function candidates(view: AddressView, count: number): string[] {
  const { pool } = view.network;
  if (pool === undefined) return [];
  const found: string[] = [];
  for (const addresses of [view.leases.unusedFrom(pool.first), ended(view)]) {
    for (const address of addresses) {
      if (found.length === count) return found;
      if (isOfPool(address, view) && view.hosts.hostAt(address) === undefined) found.push(address);
    }
  }
  return found;
}

/** How full the pool is. Of what is free, `kept` is for named machines alone. */
export function poolUse(view: AddressView): {
  size: number;
  free: number;
  kept: number;
  declined: number;
  foreignHosts: number;
} {
  const use = { size: 0, free: 0, kept: 0, declined: 0, foreignHosts: 0 };
  const { pool } = view.network;
  if (pool === undefined) return use;
  const { first, size } = range(pool);
  for (let step = 0; step < size; step++) {
    const address = addressText(first + step);
    const lease = view.leases.at(address);
    if (lease !== undefined && lease.expiresAt > view.now) {
      if (lease.state === 'declined') use.declined++;
    } else if (isOfPool(address, view)) {
      if (view.hosts.hostAt(address) !== undefined) use.foreignHosts++;
      else {
        use.free++;
        if (isKept(address, view)) use.kept++;
      }
    }
  }
  return { ...use, size };
}

function range(pool: AddressPool): { first: number; size: number } {
  const first = addressNumber(pool.first);
  return { first, size: addressNumber(pool.last) - first + 1 };
}

/** FNV-1a, 32 bits: spreads MACs of one vendor over the pool. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return sum;
}
