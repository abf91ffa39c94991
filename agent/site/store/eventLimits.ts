import type { Sqlite } from '#base/sqlite.ts';

/** How many events are kept. */
export interface MostEvents {
  /** Of one MAC, or of a node that has none. */
  ofMachine: number;
  /** Of these, of a type that may come without end: the oldest of the type go, and no step of a boot. */
  ofType: Readonly<Record<string, number>>;
  /** Of all machines that nobody has named. */
  ofStrangers: number;
  /** Of all nodes. */
  ofNodes: number;
}

/** An event takes about 400 bytes: some 25 MB in all, and a recorded console up to 1 MB. Some 225 of a machine are left for its boots. */
const most: MostEvents = {
  ofMachine: 1000,
  ofType: {
    'boot.log': 250,
    'bmc.log': 100,
    // A BMC that cannot make up its mind, and a console that breaks every minute.
    'bmc.health': 50,
    'bmc.events': 25,
    'console.output': 250,
    'console.started': 25,
    'console.joined': 25,
    'console.broken': 25,
    'console.ended': 25,
  },
  ofStrangers: 5_000,
  ofNodes: 50_000,
};

/**
 * Bounds what whoever is on the boot network can make a site keep: the oldest events go, of one machine and in all, told or not.
 * Joins and losses stay: they cost a boot token. Strangers never displace what is known of nodes.
 */
export interface EventLimits {
  /** Called after each event that was added. */
  added(event: { type: string; mac?: string; nodeId?: string }): void;
  /** Counts anew: others have removed events. */
  recount(): void;
  /** Events that the centre had not taken when they went, since the start of this process. */
  dropped(): number;
}

interface Gone {
  stranger: 0 | 1;
  taken: 0 | 1;
}

const spare = "substr(document ->> 'type', 1, 6) <> 'agent.'";
const gone = 'RETURNING node_id IS NULL AS stranger, taken';

export function limitEvents(database: Sqlite, limits: MostEvents = most): EventLimits {
  const count = database.prepare<[], { strangers: number; nodes: number }>(
    'SELECT count(*) FILTER (WHERE node_id IS NULL) AS strangers, count(node_id) AS nodes FROM events',
  );
  const ofMachine = machineLimits(database, 'mac = ?');
  /** A machine that is known by its UUID alone. */
  const ofNode = machineLimits(database, 'mac IS NULL AND node_id = ?');
  const trim = (whose: string) =>
    database.prepare<[number], Gone>(
      `DELETE FROM events WHERE sequence IN
       (SELECT sequence FROM events WHERE ${whose} AND ${spare} ORDER BY sequence LIMIT ?) ${gone}`,
    );
  const trimStrangers = trim('node_id IS NULL');
  const trimNodes = trim('node_id IS NOT NULL');
  let kept = { strangers: 0, nodes: 0 };
  let dropped = 0;

  const recount = () => {
    kept = count.get() ?? kept;
  };
  const forget = (rows: readonly Gone[]) => {
    for (const { stranger, taken } of rows) {
      kept[stranger === 1 ? 'strangers' : 'nodes']--;
      if (taken === 0) dropped++;
    }
  };
  recount();
  return {
    added({ type, mac, nodeId }) {
      kept[nodeId === undefined ? 'strangers' : 'nodes']++;
      if (mac !== undefined) forget(ofMachine(mac, type, limits));
      else if (nodeId !== undefined) forget(ofNode(nodeId, type, limits));
      // A tenth at a time, so that a flood does not pay for each of its events.
      if (kept.strangers > limits.ofStrangers) forget(trimStrangers.all(Math.ceil(limits.ofStrangers / 10)));
      if (kept.nodes > limits.ofNodes) forget(trimNodes.all(Math.ceil(limits.ofNodes / 10)));
    },
    recount,
    dropped: () => dropped,
  };
}

/** Removes what one machine has too many of, after an event of `type` was added. */
function machineLimits(database: Sqlite, whose: string) {
  const excess = database.prepare<[string, number], { sequence: number }>(
    `SELECT sequence FROM events WHERE ${whose} ORDER BY sequence DESC LIMIT 1 OFFSET ?`,
  );
  const trimAll = database.prepare<[string, number], Gone>(
    `DELETE FROM events WHERE ${whose} AND sequence <= ? AND ${spare} ${gone}`,
  );
  const trimType = database.prepare<[string, string, number], Gone>(
    `DELETE FROM events WHERE sequence IN
     (SELECT sequence FROM events WHERE ${whose} AND document ->> 'type' = ?
      ORDER BY sequence DESC LIMIT -1 OFFSET ?) ${gone}`,
  );
  return (key: string, type: string, limits: MostEvents): Gone[] => {
    const mostOfType = limits.ofType[type];
    const ofType = mostOfType === undefined ? [] : trimType.all(key, type, mostOfType);
    const last = excess.get(key, limits.ofMachine);
    return last === undefined ? ofType : [...ofType, ...trimAll.all(key, last.sequence)];
  };
}
