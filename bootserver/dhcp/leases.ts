import type { Sqlite } from '#base/sqlite.ts';

/** An address that is not free, and whose it is. */
export interface Lease {
  /** The client, as `ClientFacts.key` writes it. */
  key: string;
  address: string;
  /** `offered`: held for a client that has not asked for it yet; `declined`: some other host uses it. */
  state: 'offered' | 'bound' | 'declined';
  /** Milliseconds since the epoch; past it the address is free, but the client gets it again if it can. */
  expiresAt: number;
}

/** What a decision wants to know of the leases. */
export interface LeaseView {
  ofClient(key: string): Lease | undefined;
  at(address: string): Lease | undefined;
}

/** What a decision does to the leases; carried out before the reply is sent. */
export type LeaseChange = { set: Lease } | { free: string };

const schema = `
  CREATE TABLE IF NOT EXISTS dhcp_lease (
    address TEXT PRIMARY KEY,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT`;

/**
 * The leases of one interface: read once from the database, then kept in memory and written through, so that what was
 * promised to a client is on stable storage before it is told (RFC 2131 §2.1).
 */
export class LeaseTable implements LeaseView {
  readonly #byAddress = new Map<string, Lease>();
  readonly #byClient = new Map<string, Lease>();
  readonly #write: (lease: Lease) => void;
  readonly #erase: (address: string) => void;

  constructor(database: Sqlite) {
    database.exec(schema);
    const insert = database.prepare('INSERT OR REPLACE INTO dhcp_lease VALUES (?, ?, ?, ?)');
    const remove = database.prepare('DELETE FROM dhcp_lease WHERE address = ?');
    this.#write = ({ address, key, state, expiresAt }) => insert.run(address, key, state, expiresAt);
    this.#erase = (address) => remove.run(address);
    for (const lease of storedLeases(database)) this.#remember(lease);
  }

  ofClient(key: string): Lease | undefined {
    return this.#byClient.get(key);
  }

  at(address: string): Lease | undefined {
    return this.#byAddress.get(address);
  }

  /** The Ethernet address of the client that has this address; undefined when nobody has it, or no Ethernet client. */
  macAt(address: string): string | undefined {
    return /^1\/(.{17})$/.exec(this.#byAddress.get(address)?.key ?? '')?.[1];
  }

  apply(change: LeaseChange): void {
    if ('free' in change) this.#free(change.free);
    else this.#set(change.set);
  }

  #set(lease: Lease): void {
    const former = this.#byClient.get(lease.key);
    if (former !== undefined && former.address !== lease.address) this.#free(former.address);
    const evicted = this.#byAddress.get(lease.address);
    if (evicted !== undefined) this.#forget(evicted);
    // An offer is not promised beyond a restart: the client asks again and gets the address if it is still free.
    if (lease.state !== 'offered') this.#write(lease);
    this.#remember(lease);
  }

  #free(address: string): void {
    const lease = this.#byAddress.get(address);
    if (lease === undefined) return;
    this.#erase(address);
    this.#forget(lease);
  }

  #remember(lease: Lease): void {
    this.#byAddress.set(lease.address, lease);
    if (lease.state !== 'declined') this.#byClient.set(lease.key, lease);
  }

  #forget(lease: Lease): void {
    this.#byAddress.delete(lease.address);
    if (this.#byClient.get(lease.key) === lease) this.#byClient.delete(lease.key);
  }
}

function storedLeases(database: Sqlite): Lease[] {
  return database
    .prepare('SELECT client AS key, address, state, expires_at AS expiresAt FROM dhcp_lease')
    .all() as Lease[];
}
