import type { Sqlite } from '#base/sqlite.ts';
import type { Events, Happening } from './events.ts';

export interface GatheredEvents extends Events {
  /** Called with what could not be kept. */
  onLost(listener: (error: unknown, lost: readonly Happening[]) => void): void;
  /** Keeps what is not kept yet. */
  flush(): void;
}

/** A commit takes as long for one event as for hundreds. A crash loses the last steps of a boot within this time. */
const gatherMs = 20;

/**
 * Steps of boots are many and small, and nothing waits for them: they are written together, a moment later. All that asks sees them at
 * once, and every other event is on stable storage when `add` returns.
 */
export function gatherEvents(events: Events, database: Sqlite): GatheredEvents {
  let waiting: Happening[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lost: Parameters<GatheredEvents['onLost']>[0] = () => {};
  const write = database.transaction((some: readonly Happening[]) => {
    for (const happening of some) events.add(happening);
  });
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const some = waiting;
    waiting = [];
    if (some.length === 0) return;
    try {
      withoutSync(database, () => write(some));
    } catch (error) {
      lost(error, some);
    }
  };
  return {
    ...afterwards(events, flush),
    add: (happening) => {
      if (!happening.type.startsWith('boot.')) {
        flush();
        events.add(happening);
        return;
      }
      waiting.push(happening);
      timer ??= setTimeout(flush, gatherMs);
    },
    onLost: (listener) => {
      lost = listener;
    },
    flush,
  };
}

/**
 * A commit that does not wait for the disk: it outlives this process, and a loss of power once any later commit has waited. The level
 * cannot be changed within a transaction, whose end decides then.
 */
function withoutSync(database: Sqlite, commit: () => void): void {
  if (database.inTransaction) {
    commit();
    return;
  }
  database.pragma('synchronous = NORMAL');
  try {
    commit();
  } finally {
    database.pragma('synchronous = FULL');
  }
}

/** Every method of `events`, after `flush`. */
function afterwards(events: Events, flush: () => void): Events {
  const methods = Object.entries(events).map(([name, method]) => [
    name,
    (...args: unknown[]) => {
      flush();
      return method(...args);
    },
  ]);
  return Object.fromEntries(methods);
}
