import type { Log } from '#base/log.ts';
import type { Sqlite } from '#base/sqlite.ts';
import type { Lease } from './leases.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS dhcp_lease (
    address TEXT PRIMARY KEY,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT`;

/**
 * How long a lease waits for others to be written with it: one commit takes about as long, for one or for hundreds. On a disk that is
 * slow it waits as long as the last commit took, so that half of the time is left to answer others.
 */
const gatherMs = { least: 2, most: 50 } as const;

/**
 * The leases on stable storage. Changes are gathered for a moment and committed together; what waits for them goes on
 * after the commit, so that nobody is told of a lease that a loss of power would take back (RFC 2131 §2.1).
 */
export class LeaseStore {
  readonly #database: Sqlite;
  readonly #log: Log;
  readonly #commit: () => void;
  /** By address; undefined: the address is nobody's any more. */
  readonly #changed = new Map<string, Lease | undefined>();
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #commitMs = 0;

  constructor(database: Sqlite, log: Log) {
    database.exec(schema);
    const insert = database.prepare('INSERT OR REPLACE INTO dhcp_lease VALUES (?, ?, ?, ?)');
    const remove = database.prepare('DELETE FROM dhcp_lease WHERE address = ?');
    this.#database = database;
    this.#log = log;
    this.#commit = database.transaction(() => {
      for (const [address, lease] of this.#changed) {
        if (lease === undefined) remove.run(address);
        else insert.run(address, lease.key, lease.state, lease.expiresAt);
      }
    });
  }

  /** What is stored, the lease that ends first at first. */
  stored(): Lease[] {
    return this.#database
      .prepare(
        'SELECT client AS key, address, state, expires_at AS expiresAt FROM dhcp_lease ORDER BY expires_at',
      )
      .all() as Lease[];
  }

  set(lease: Lease): void {
    this.#change(lease.address, lease);
  }

  erase(address: string): void {
    this.#change(address, undefined);
  }

  /** Runs `action` once all that was changed before is on stable storage: at once when it is; never when it cannot be. */
  whenStored(action: () => void): void {
    if (this.#changed.size === 0) action();
    else this.#waiting.push(action);
  }

  /** Commits what is changed. What could not be committed stays for the next time: only its replies are lost. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    const start = performance.now();
    try {
      this.#commit();
    } catch (error) {
      this.#log.error(
        { err: error, leases: this.#changed.size },
        'DHCP: leases cannot be stored, so they are not given',
      );
      return;
    }
    this.#commitMs = performance.now() - start;
    this.#changed.clear();
    for (const action of waiting) action();
  }

  #gatherMs(): number {
    return Math.min(Math.max(this.#commitMs, gatherMs.least), gatherMs.most);
  }

  #change(address: string, lease: Lease | undefined): void {
    this.#changed.set(address, lease);
    this.#timer ??= setTimeout(() => this.flush(), this.#gatherMs());
  }
}
