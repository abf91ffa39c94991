import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#base/log.ts';
import type { Sqlite } from '#base/sqlite.ts';
import { setAside } from './damagedLeaseFile.ts';
import { readLeaseFile } from './leaseFile.ts';
import type { Lease } from './leases.ts';
import { LeaseWriter, type RowChange } from './leaseWriter.ts';

/** How long a lease waits for others to be committed with it; those that come while a commit runs wait for the next one. */
const gatherMs = 2;
/** What could not be stored is tried again after so long. */
const retryMs = 1000;

/** By address; undefined: the address is nobody's any more. */
type Changes = Map<string, Lease | undefined>;

/**
 * The leases on stable storage. Changes are gathered for a moment and committed together by a thread of their own; what waits for them
 * goes on after the commit, so that nobody is told of a lease that a loss of power would take back (RFC 2131 §2.1).
 */
export class LeaseStore {
  readonly #file: string;
  readonly #log: Log;
  /** What an earlier run has stored, the lease that ends first at first. */
  readonly stored: readonly Lease[];
  #changed: Changes = new Map();
  #waiting: (() => void)[] = [];
  /** Those whose leases are being committed. */
  #committing: (() => void)[] | undefined;
  #running: Promise<void> | undefined;
  #writer: LeaseWriter | undefined;
  #isFailing = false;
  readonly #closing = new AbortController();

  /** `former`: the database that older versions kept leases in. A damaged file is set aside. @throws the driver's error for any other fault */
  constructor(file: string, former: Sqlite, log: Log) {
    this.#file = file;
    this.#log = log;
    this.stored = readOrBeginAnew(file, former, log);
  }

  set(lease: Lease): void {
    this.#change(lease.address, lease);
  }

  erase(address: string): void {
    this.#change(address, undefined);
  }

  /** Runs `action` once all that was changed before is on stable storage: at once when it is; never when it cannot be. */
  whenStored(action: () => void): void {
    if (this.#changed.size > 0) this.#waiting.push(action);
    else if (this.#committing !== undefined) this.#committing.push(action);
    else action();
  }

  /** Stores what is not stored yet, and lets the file go. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#writer?.close();
  }

  #change(address: string, lease: Lease | undefined): void {
    this.#changed.set(address, lease);
    this.#running ??= this.#commitAll();
  }

  async #commitAll(): Promise<void> {
    while (this.#changed.size > 0) {
      await this.#rest(gatherMs);
      if (await this.#commit()) continue;
      if (this.#closing.signal.aborted) break;
      await this.#rest(retryMs);
    }
    this.#running = undefined;
  }

  /** @returns whether it was stored. What was not stays for the next time: only its replies are lost. */
  async #commit(): Promise<boolean> {
    const [changes, waiting] = [this.#changed, this.#waiting];
    [this.#changed, this.#waiting, this.#committing] = [new Map(), [], waiting];
    try {
      if (this.#writer === undefined || this.#writer.hasEnded) this.#writer = new LeaseWriter(this.#file);
      await this.#writer.write(Array.from(changes, rowChange));
    } catch (error) {
      this.#failed(changes, error);
      return false;
    } finally {
      this.#committing = undefined;
    }
    if (this.#isFailing) this.#log.info('DHCP: leases can be stored again');
    this.#isFailing = false;
    for (const action of waiting) this.#run(action);
    return true;
  }

  #run(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#log.error({ err: error }, 'DHCP: a lease is stored, and its client could not be told');
    }
  }

  #failed(changes: Changes, error: unknown): void {
    this.#changed = new Map([...changes, ...this.#changed]);
    const leases = this.#changed.size;
    if (!this.#isFailing)
      this.#log.error({ err: error, leases }, 'DHCP: leases cannot be stored, so they are not given');
    this.#isFailing = true;
  }

  async #rest(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => {});
  }
}

function rowChange([address, lease]: [string, Lease | undefined]): RowChange {
  return lease === undefined ? [address] : [address, lease.key, lease.state, lease.expiresAt];
}

function readOrBeginAnew(file: string, former: Sqlite, log: Log): Lease[] {
  try {
    return readLeaseFile(file, former);
  } catch (error) {
    setAside(file, error, log);
    return readLeaseFile(file, former);
  }
}
