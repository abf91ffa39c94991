import { addressNumber, addressText, inSubnet, noAddress, type Subnet } from './address.ts';
import { AddressSet } from './addressSet.ts';
import { macOfKey } from './clientKey.ts';
import type { AddressPool } from './network.ts';

/** An address that is not free, and whose it is. */
export interface Lease {
  /** The client, as `ClientFacts.key` writes it. */
  key: string;
  address: string;
  /** `offered`: held for a client that has not asked for it yet; `declined`: some other host uses it; `released`: given back. */
  state: 'offered' | 'bound' | 'declined' | 'released';
  /** Milliseconds since the epoch; past it the address is free, but the client gets it again if it can. */
  expiresAt: number;
}

/** What a decision wants to know of the leases of one network. */
export interface LeaseView {
  ofClient(key: string): Lease | undefined;
  at(address: string): Lease | undefined;
  /** Addresses of the pool that nobody has or had, from `start` on and around the pool's end. */
  unusedFrom(start: string): Iterable<string>;
  /** The leases of a state, in about the order in which they end: those of one state last equally long. */
  endingFirst(state: Lease['state']): Iterable<Lease>;
}

/** What a decision does to the leases; on stable storage before the reply is sent. */
export type LeaseChange = { set: Lease } | { free: string };

/** A network as far as its leases go. */
export interface LeasedNetwork {
  subnet: Subnet;
  pool?: AddressPool;
}

/** Where leases outlive a restart; see `LeaseStore`. */
export interface StoredLeases {
  /** What an earlier run has stored, the lease that ends first at first. */
  readonly stored: readonly Lease[];
  set(lease: Lease): void;
  erase(address: string): void;
  whenStored(action: () => void): void;
  close(): Promise<void>;
}

/** The leases of all networks, in memory and written through to one store. */
export class Leases {
  readonly #store: StoredLeases;
  readonly #tables: readonly LeaseTable[];

  /** Whether there were none at the start: those of clients may have been lost. */
  readonly wereLost: boolean;

  constructor(store: StoredLeases, networks: readonly LeasedNetwork[]) {
    this.#store = store;
    this.wereLost = store.stored.length === 0;
    this.#tables = networks.map((network) => new LeaseTable(network, this.#store));
    for (const lease of this.#store.stored) this.#tableOf(lease.address)?.restore(lease);
  }

  /** The leases of one of the networks. @throws Error when it is none of those that this was made with */
  of({ subnet }: LeasedNetwork): LeaseTable {
    const table = this.#tables.find((one) => one.isOf(subnet));
    if (table === undefined)
      throw new Error(`no leases are kept of ${subnet.address}/${subnet.prefixLength}`);
    return table;
  }

  /** The Ethernet address of the client that has this address; undefined when nobody has it, or no Ethernet client. */
  macAt(address: string): string | undefined {
    const lease = this.#tableOf(address)?.at(address);
    return lease?.state === 'declined' ? undefined : macOfKey(lease?.key);
  }

  /** The Ethernet address of the client that took this address, and whose time is not over. */
  leasedTo(address: string, now: number): string | undefined {
    const lease = this.#tableOf(address)?.at(address);
    return lease?.state === 'bound' && lease.expiresAt > now ? macOfKey(lease.key) : undefined;
  }

  /** Runs `action` once all leases given so far are on stable storage; see `LeaseStore`. */
  whenStored(action: () => void): void {
    this.#store.whenStored(action);
  }

  /** Stores what is not stored yet. */
  close(): Promise<void> {
    return this.#store.close();
  }

  #tableOf(address: string): LeaseTable | undefined {
    return this.#tables.find((table) => table.holds(address));
  }
}

/** The leases of one network. */
export class LeaseTable implements LeaseView {
  readonly #network: LeasedNetwork;
  readonly #store: StoredLeases;
  readonly #first: number;
  readonly #unused: AddressSet;
  readonly #byAddress = new Map<string, Lease>();
  readonly #byClient = new Map<string, Lease>();
  readonly #byState = {
    offered: new Map(),
    bound: new Map(),
    declined: new Map(),
    released: new Map(),
  } satisfies Record<Lease['state'], Map<string, Lease>>;

  constructor(network: LeasedNetwork, store: StoredLeases) {
    this.#network = network;
    this.#store = store;
    const { first, last } = network.pool ?? { first: noAddress, last: noAddress };
    this.#first = addressNumber(first);
    this.#unused = new AddressSet(network.pool === undefined ? 0 : addressNumber(last) - this.#first + 1);
  }

  isOf({ address, prefixLength }: Subnet): boolean {
    const { subnet } = this.#network;
    return prefixLength === subnet.prefixLength && inSubnet(address, subnet);
  }

  holds(address: string): boolean {
    return inSubnet(address, this.#network.subnet);
  }

  ofClient(key: string): Lease | undefined {
    return this.#byClient.get(key);
  }

  at(address: string): Lease | undefined {
    return this.#byAddress.get(address);
  }

  *unusedFrom(start: string): Iterable<string> {
    const from = addressNumber(start) - this.#first;
    for (let at = this.#unused.next(from); at !== undefined; at = this.#unused.next(at + 1))
      yield addressText(this.#first + at);
    for (let at = this.#unused.next(0); at !== undefined && at < from; at = this.#unused.next(at + 1))
      yield addressText(this.#first + at);
  }

  endingFirst(state: Lease['state']): Iterable<Lease> {
    return this.#byState[state].values();
  }

  apply(change: LeaseChange): void {
    if ('free' in change) this.#free(change.free);
    else this.#set(change.set);
  }

  /** A lease of an earlier run. */
  restore(lease: Lease): void {
    this.#remember(lease);
  }

  #set(lease: Lease): void {
    const former = this.#byClient.get(lease.key);
    if (former !== undefined && former.address !== lease.address) this.#free(former.address);
    const evicted = this.#byAddress.get(lease.address);
    if (evicted !== undefined) this.#forget(evicted);
    // An offer is not promised beyond a restart: the client asks again and gets the address if it is still free.
    if (lease.state !== 'offered') this.#store.set(lease);
    this.#remember(lease);
  }

  #free(address: string): void {
    const lease = this.#byAddress.get(address);
    if (lease === undefined) return;
    // An offer in the place of a lease that had ended has left that one in the table.
    this.#store.erase(address);
    this.#forget(lease);
  }

  #remember(lease: Lease): void {
    this.#byAddress.set(lease.address, lease);
    this.#byState[lease.state].set(lease.address, lease);
    if (lease.state !== 'declined') this.#byClient.set(lease.key, lease);
    if (this.#isInPool(lease.address)) this.#unused.delete(addressNumber(lease.address) - this.#first);
  }

  #forget(lease: Lease): void {
    this.#byAddress.delete(lease.address);
    this.#byState[lease.state].delete(lease.address);
    if (this.#byClient.get(lease.key) === lease) this.#byClient.delete(lease.key);
    if (this.#isInPool(lease.address)) this.#unused.add(addressNumber(lease.address) - this.#first);
  }

  #isInPool(address: string): boolean {
    const { pool } = this.#network;
    const number = addressNumber(address);
    return pool !== undefined && number >= this.#first && number <= addressNumber(pool.last);
  }
}
