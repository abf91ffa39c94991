import type { Sqlite } from '#base/sqlite.ts';
import type { SiteEvent } from '#contract/agentWire.ts';
import { newId } from '#contract/ids.ts';
import { limitEvents, type MostEvents } from './eventLimits.ts';
import { openTimeline, parsedEvent, type Timeline } from './timeline.ts';

/** A `SiteEvent` before it has its id and time. */
export type Happening = SiteEvent extends infer Event
  ? Event extends SiteEvent
    ? Omit<Event, 'eventId' | 'at'>
    : never
  : never;

/** What happened at this site: the outbox to the centre, and the timeline of each machine. */
export interface Events extends Timeline {
  add(happening: Happening): void;
  /** Events that the centre has not taken, oldest first: at most `limit`, and as many as are of `mostBytes` together, but one at least. */
  untold(limit: number, mostBytes?: number): SiteEvent[];
  taken(events: readonly SiteEvent[]): void;
  /** How many events were dropped untold, for lack of place, since the start of this process. */
  dropped(): number;
  /** Forgets events that were told and are older than `before` (milliseconds). */
  prune(before: number): void;
}

export function openEvents(database: Sqlite, now: () => number, most?: MostEvents): Events {
  const limits = limitEvents(database, most);
  const insert = insertEvent(database);
  const untold = database.prepare<[number], { document: string }>(
    'SELECT document FROM events WHERE taken = 0 ORDER BY sequence LIMIT ?',
  );
  const take = database.prepare('UPDATE events SET taken = 1 WHERE event_id = ?');
  const prune = database.prepare('DELETE FROM events WHERE taken = 1 AND at < ?');
  return {
    ...openTimeline(database),
    add: (happening) => limits.added(insert(happening, now())),
    untold: (limit, mostBytes = Number.POSITIVE_INFINITY) => {
      const events: SiteEvent[] = [];
      let bytes = 0;
      for (const row of untold.iterate(limit)) {
        bytes += Buffer.byteLength(row.document);
        if (bytes > mostBytes && events.length > 0) break;
        events.push(parsedEvent(row));
      }
      return events;
    },
    taken: database.transaction((events: readonly SiteEvent[]) => {
      for (const { eventId } of events) take.run(eventId);
    }),
    dropped: limits.dropped,
    prune: (before) => {
      prune.run(before);
      limits.recount();
    },
  };
}

function insertEvent(database: Sqlite): (happening: Happening, at: number) => SiteEvent {
  const insert = database.prepare(
    `INSERT INTO events (event_id, at, mac, node_id, document, taken)
     VALUES (@eventId, @at, @mac, @nodeId, @document, @taken)`,
  );
  return (happening, at) => {
    const event = { eventId: newId('ev', at), at: new Date(at).toISOString(), ...happening };
    const { eventId, mac = null, nodeId = null } = event;
    const taken = isForCentre(event) ? 0 : 1;
    insert.run({ eventId, at, mac, nodeId, document: JSON.stringify(event), taken });
    return event;
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
