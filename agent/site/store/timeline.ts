import type { Sqlite } from '#base/sqlite.ts';
import type { SiteEvent } from '#contract/agentWire.ts';

/** What happened to each machine, by its MAC. */
export interface Timeline {
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
}

type Row = { document: string };

export function openTimeline(database: Sqlite): Timeline {
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
  return {
    timeline: (mac, limit) => timeline.all(mac, limit).map(parsedEvent).reverse(),
    since: (mac, after, limit) => {
      const rows = since.all(mac, after, limit);
      return { events: rows.map(parsedEvent), last: rows.at(-1)?.sequence ?? after };
    },
    machines: () => machines.all(),
    lastBoot: (mac) => lastBoot.get(mac)?.bootId,
    bootedSince: (macs, after) => (booted.get(JSON.stringify(macs), after)?.found ?? 0) > 0,
    knows: (mac, type) => knows.get(mac, type) !== undefined,
  };
}

export function parsedEvent({ document }: Row): SiteEvent {
  return JSON.parse(document);
}
