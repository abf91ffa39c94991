import type { Sqlite } from '#base/sqlite.ts';
import type { SiteEvent } from '#contract/agentWire.ts';
import { newId } from '#contract/ids.ts';
import { limitEvents, type MostEvents } from './eventLimits.ts';

/** A `SiteEvent` before it has its id and time. */
export type Happening = SiteEvent extends infer Event
  ? Event extends SiteEvent
    ? Omit<Event, 'eventId' | 'at'>
    : never
  : never;

/** What happened at this site: the outbox to the centre, and the timeline of each machine. */
export interface Events {
  add(happening: Happening): void;
  /** Events that the centre has not taken, oldest first. */
  untold(limit: number): SiteEvent[];
  taken(events: readonly SiteEvent[]): void;
  /** The newest events of a machine, oldest first. */
  timeline(mac: string, limit: number): SiteEvent[];
  /** Events of a machine after the one numbered `after`, oldest first, and the number of the last. */
  since(mac: string, after: number, limit: number): { events: SiteEvent[]; last: number };
  /** Every MAC that was seen, with the time of its newest event (milliseconds). */
  machines(): { mac: string; lastSeen: number }[];
  /** Whether an event of this type is kept for the MAC. */
  knows(mac: string, type: SiteEvent['type']): boolean;
  /** The boot that the machine's newest event of any boot is of. */
  lastBoot(mac: string): string | undefined;
  /** Whether a machine of these MACs was seen to network-boot after `since` (milliseconds). */
  bootedSince(macs: readonly string[], since: number): boolean;
  /** How many events were dropped untold, for lack of place, since the start of this process. */
  dropped(): number;
  /** Forgets events that were told and are older than `before` (milliseconds). */
  prune(before: number): void;
}

type Row = { document: string };

export function openEvents(database: Sqlite, now: () => number, most?: MostEvents): Events {
  const limits = limitEvents(database, most);
  const add = database.prepare(
    `INSERT INTO events (event_id, at, mac, node_id, document, taken)
     VALUES (@eventId, @at, @mac, @nodeId, @document, @taken)`,
  );
  const untold = database.prepare<[number], Row>(
    'SELECT document FROM events WHERE taken = 0 ORDER BY sequence LIMIT ?',
  );
  const take = database.prepare('UPDATE events SET taken = 1 WHERE event_id = ?');
  const timeline = database.prepare<[string, number], Row>(
    'SELECT document FROM events WHERE mac = ? ORDER BY sequence DESC LIMIT ?',
  );
  const since = database.prepare<[string, number, number], Row & { sequence: number }>(
    'SELECT document, sequence FROM events WHERE mac = ? AND sequence > ? ORDER BY sequence LIMIT ?',
  );
  const machines = database.prepare<[], { mac: string; lastSeen: number }>(
    'SELECT mac, max(at) AS lastSeen FROM events WHERE mac IS NOT NULL GROUP BY mac ORDER BY mac',
  );
  const booted = database.prepare<[string, number], { found: number }>(
    `SELECT count(*) AS found FROM events JOIN json_each(?) ON mac = value
     WHERE at > ? AND document ->> 'type' = 'boot.dhcp'`,
  );
  const knows = database.prepare("SELECT 1 FROM events WHERE mac = ? AND document ->> 'type' = ? LIMIT 1");
  const lastBoot = database.prepare<[string], { bootId: string }>(
    `SELECT document ->> 'bootId' AS bootId FROM events WHERE mac = ? AND bootId IS NOT NULL
     ORDER BY sequence DESC LIMIT 1`,
  );
  const prune = database.prepare('DELETE FROM events WHERE taken = 1 AND at < ?');
  return {
    add: (happening) => {
      const at = now();
      const event = { eventId: newId('ev', at), at: new Date(at).toISOString(), ...happening };
      const { eventId, mac = null, nodeId = null } = event;
      add.run({
        eventId,
        at,
        mac,
        nodeId,
        document: JSON.stringify(event),
        taken: isForCentre(event) ? 0 : 1,
      });
      limits.added(event);
    },
    untold: (limit) => untold.all(limit).map(parsed),
    taken: database.transaction((events: readonly SiteEvent[]) => {
      for (const { eventId } of events) take.run(eventId);
    }),
    timeline: (mac, limit) => timeline.all(mac, limit).map(parsed).reverse(),
    since: (mac, after, limit) => {
      const rows = since.all(mac, after, limit);
      return { events: rows.map(parsed), last: rows.at(-1)?.sequence ?? after };
    },
    machines: () => machines.all(),
    lastBoot: (mac) => lastBoot.get(mac)?.bootId,
    bootedSince: (macs, since) => (booted.get(JSON.stringify(macs), since)?.found ?? 0) > 0,
    knows: (mac, type) => knows.get(mac, type) !== undefined,
    dropped: limits.dropped,
    prune: (before) => {
      prune.run(before);
      limits.recount();
    },
  };
}

/**
 * Whoever is on the boot network makes steps of boots, as many as he likes: those of machines without a node stay here, in their bounds. So
 * do the lines of installers, of which there are thousands.
 */
function isForCentre({ type, nodeId }: SiteEvent): boolean {
  if (type === 'boot.log') return false;
  return nodeId !== undefined || !type.startsWith('boot.');
}

function parsed(row: Row): SiteEvent {
  return JSON.parse(row.document);
}
