import type { Log } from '#base/log.ts';
import type { Sqlite } from '#base/sqlite.ts';

/** Who has which address, where another server gives them: what the clients' own messages say. */
export interface HeardAddresses {
  /** The client told its server (port 67), or us (4011), that it takes or uses this address; the one it had is then nobody's. */
  heard(mac: string, address: string, port: 67 | 4011): void;
  macAt(address: string): string | undefined;
  /** Keeps what is not kept yet. */
  close(): void;
}

export interface HeardAddressesParts {
  database: Sqlite;
  log: Log;
  /** Whether the site has named a machine: strangers push no such machine out. */
  isNamed(mac: string): boolean;
  /** A message to 4011 named another address than the one that the same client has just told its server: it is not believed. */
  onContested?(mac: string, told: string, instead: string): void;
  now?(): number;
}

interface Heard {
  mac: string;
  address: string;
  port: 67 | 4011;
  /** Milliseconds of the clock; those of an earlier run are heard of long ago. */
  at: number;
}

/** Addresses remembered of named machines, and of strangers; the one heard of longest ago goes first. */
const capacity = 16_384;
/** What a client told its server so recently, nothing that is sent to us alone changes. */
const freshMs = 10 * 60_000;
/** A commit takes as long for one address as for hundreds. A crash loses what was heard within this time. */
const gatherMs = 200;

const schema = `
  CREATE TABLE IF NOT EXISTS dhcp_heard (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT NOT NULL UNIQUE,
    mac TEXT NOT NULL
  ) STRICT`;

/** Kept in the database: a machine whose boot a restart of the agent falls into is still known by its address. @throws the driver's error */
export function openHeardAddresses(parts: HeardAddressesParts): HeardAddresses {
  const { database, isNamed, onContested, now = Date.now } = parts;
  database.exec(schema);
  const table = new HeardTable(isNamed);
  const write = gatherWrites(database, parts.log);
  for (const { mac, address } of storedAddresses(database))
    table.remember({ mac, address, port: 67, at: Number.NEGATIVE_INFINITY });
  return {
    macAt: (address) => table.at(address)?.mac,
    close: write.flush,
    heard: (mac, address, port) => {
      const known = table.of(mac);
      const entry: Heard = { mac, address, port, at: now() };
      if (known !== undefined && known.address !== address && isSurer(known, entry))
        return onContested?.(mac, known.address, address);
      for (const gone of table.remember(entry)) write.change(gone, undefined);
      if (known?.address !== address) write.change(address, mac);
    },
  };
}

function isSurer(known: Heard, entry: Heard): boolean {
  return known.port === 67 && entry.port === 4011 && entry.at - known.at < freshMs;
}

/** One machine for an address, and one address for a machine. */
class HeardTable {
  readonly #isNamed: (mac: string) => boolean;
  readonly #byAddress = new Map<string, Heard>();
  /** By MAC, in the order in which they were heard of last. */
  readonly #named = new Map<string, Heard>();
  readonly #strangers = new Map<string, Heard>();

  constructor(isNamed: (mac: string) => boolean) {
    this.#isNamed = isNamed;
  }

  at(address: string): Heard | undefined {
    return this.#byAddress.get(address);
  }

  of(mac: string): Heard | undefined {
    return this.#named.get(mac) ?? this.#strangers.get(mac);
  }

  /** @returns the addresses that are nobody's any more */
  remember(entry: Heard): string[] {
    const gone = [this.of(entry.mac), this.at(entry.address)].flatMap((former) => this.#forget(former));
    const place = this.#isNamed(entry.mac) ? this.#named : this.#strangers;
    place.set(entry.mac, entry);
    this.#byAddress.set(entry.address, entry);
    const [oldest] = place.size > capacity ? place.values() : [];
    return [...gone, ...this.#forget(oldest)].filter((address) => address !== entry.address);
  }

  #forget(entry: Heard | undefined): string[] {
    if (entry === undefined) return [];
    this.#named.delete(entry.mac);
    this.#strangers.delete(entry.mac);
    this.#byAddress.delete(entry.address);
    return [entry.address];
  }
}

function storedAddresses(database: Sqlite): { mac: string; address: string }[] {
  return database.prepare('SELECT mac, address FROM dhcp_heard ORDER BY sequence').all() as {
    mac: string;
    address: string;
  }[];
}

/** Changes are written together, a moment later: how many there are is the network's doing, how many commits is ours. */
function gatherWrites(database: Sqlite, log: Log) {
  const insert = database.prepare('INSERT OR REPLACE INTO dhcp_heard (address, mac) VALUES (?, ?)');
  const remove = database.prepare('DELETE FROM dhcp_heard WHERE address = ?');
  const waiting = new Map<string, string | undefined>();
  let timer: NodeJS.Timeout | undefined;
  const commit = database.transaction(() => {
    for (const [address, mac] of waiting) {
      if (mac === undefined) remove.run(address);
      else insert.run(address, mac);
    }
  });
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    try {
      if (waiting.size > 0) commit();
    } catch (error) {
      log.warn(
        { err: error, addresses: waiting.size },
        'who has which address could not be kept for a restart',
      );
    }
    waiting.clear();
  };
  return {
    flush,
    change: (address: string, mac: string | undefined) => {
      waiting.set(address, mac);
      timer ??= setTimeout(flush, gatherMs);
    },
  };
}
