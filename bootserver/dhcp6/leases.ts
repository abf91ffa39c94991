import type { Sqlite } from '#base/sqlite.ts';
import { macOfAddress } from './address.ts';

/** The key of the only association of a machine that is known by its interface. */
export function machineKey(mac: string): string {
  return `mac/${mac}`;
}

/** A client's hold on an address. */
export interface Lease6 {
  /** Whose it is, as `associationKey` writes it. */
  key: string;
  address: string;
  /** The identity association that it is in now. */
  duid: string;
  iaid: number;
  /** Of the client's interface, where it is known. */
  mac?: string;
  /** `offered`: held for a client that has not asked for it yet; `declined`: some other host uses it. */
  state: 'offered' | 'bound' | 'declined';
  /** Milliseconds since the epoch; past it the address is free, but the client gets it again if it can. */
  expiresAt: number;
}

/** What a decision wants to know of the leases. */
export interface Lease6View {
  ofClient(key: string): Lease6 | undefined;
  at(address: string): Lease6 | undefined;
}

/** The leases as they will be once `changes` are made. */
export function withChanges(leases: Lease6View, changes: readonly Lease6[]): Lease6View {
  if (changes.length === 0) return leases;
  return {
    ofClient: (key) => changes.findLast((lease) => lease.key === key) ?? leases.ofClient(key),
    at: (address) => changes.findLast((lease) => lease.address === address) ?? leases.at(address),
  };
}

const schema = `
  CREATE TABLE IF NOT EXISTS dhcp6_lease (
    address TEXT PRIMARY KEY,
    client TEXT NOT NULL,
    duid TEXT NOT NULL,
    iaid INTEGER NOT NULL,
    mac TEXT,
    state TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT`;

/**
 * The leases of a site over IPv6: read once from the database, then kept in memory. What changed is written by `commit`, many changes in
 * one transaction, before any of the clients is told.
 */
export class Lease6Table implements Lease6View {
  readonly #byAddress = new Map<string, Lease6>();
  readonly #byClient = new Map<string, Lease6>();
  /** What is not on stable storage yet; undefined: to be erased. */
  readonly #unwritten = new Map<string, Lease6 | undefined>();
  readonly #write: (changes: ReadonlyMap<string, Lease6 | undefined>) => void;

  constructor(database: Sqlite) {
    database.exec(schema);
    this.#write = writer(database);
    for (const lease of storedLeases(database)) this.#remember(lease);
  }

  ofClient(key: string): Lease6 | undefined {
    return this.#byClient.get(key);
  }

  at(address: string): Lease6 | undefined {
    return this.#byAddress.get(address);
  }

  /** The Ethernet address of the client that has this address, or that formed it from its MAC (SLAAC) and has another one from us. */
  macAt(address: string): string | undefined {
    return this.#ownLease(address)?.mac;
  }

  /** Likewise, of a client that took its address, and whose time is not over. */
  leasedTo(address: string, now: number): string | undefined {
    const lease = this.#ownLease(address);
    return lease?.state === 'bound' && lease.expiresAt > now ? lease.mac : undefined;
  }

  /**
   * The lease that a machine has as the only one of its MAC. Who asks for several at once, or in another machine's name, gets addresses
   * of its own: these say nothing of whose they are.
   */
  #ownLease(address: string): Lease6 | undefined {
    const mac = this.#byAddress.get(address)?.mac ?? macOfAddress(address);
    const own = mac === undefined ? undefined : this.#byClient.get(machineKey(mac));
    return own?.address === address || mac === macOfAddress(address) ? own : undefined;
  }

  /** A client has one address per key: the former one becomes free. */
  set(lease: Lease6): void {
    const former = this.#byClient.get(lease.key);
    if (former !== undefined && former.address !== lease.address) this.#free(former);
    const evicted = this.#byAddress.get(lease.address);
    if (evicted !== undefined) this.#forget(evicted);
    this.#remember(lease);
    // An offer is not promised beyond a restart: the client asks again and gets the address if it is still free.
    if (lease.state !== 'offered') this.#unwritten.set(lease.address, lease);
  }

  get hasUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  /** Puts every change on stable storage. @throws the driver's error; the changes are kept for the next try */
  commit(): void {
    if (this.#unwritten.size === 0) return;
    this.#write(this.#unwritten);
    this.#unwritten.clear();
  }

  #free(lease: Lease6): void {
    this.#unwritten.set(lease.address, undefined);
    this.#forget(lease);
  }

  #remember(lease: Lease6): void {
    this.#byAddress.set(lease.address, lease);
    if (lease.state !== 'declined') this.#byClient.set(lease.key, lease);
  }

  #forget(lease: Lease6): void {
    this.#byAddress.delete(lease.address);
    if (this.#byClient.get(lease.key) === lease) this.#byClient.delete(lease.key);
  }
}

function writer(database: Sqlite): (changes: ReadonlyMap<string, Lease6 | undefined>) => void {
  const insert = database.prepare('INSERT OR REPLACE INTO dhcp6_lease VALUES (?, ?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM dhcp6_lease WHERE address = ?');
  return database.transaction((changes: ReadonlyMap<string, Lease6 | undefined>) => {
    for (const [address, lease] of changes) {
      if (lease === undefined) remove.run(address);
      else {
        const { key, duid, iaid, mac = null, state, expiresAt } = lease;
        insert.run(address, key, duid, iaid, mac, state, expiresAt);
      }
    }
  });
}

function storedLeases(database: Sqlite): Lease6[] {
  const rows = database
    .prepare(
      'SELECT client AS key, address, duid, iaid, mac, state, expires_at AS expiresAt FROM dhcp6_lease ORDER BY expires_at',
    )
    .all() as (Omit<Lease6, 'mac'> & { mac: string | null })[];
  return rows.map(({ mac, ...lease }) => ({ ...lease, ...(mac !== null && { mac }) }));
}
