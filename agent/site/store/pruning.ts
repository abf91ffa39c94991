import type { Closable } from '#base/shutdown.ts';
import type { SiteState } from './state.ts';

const day = 24 * 3_600_000;
/** How long what the centre has taken is kept, in milliseconds. */
const keepMs = 30 * day;

/** Keeps the database from growing without end: at the start, and once a day. */
export function startPruning({ journal, events }: Pick<SiteState, 'journal' | 'events'>): Closable {
  const prune = () => {
    journal.prune(Date.now() - keepMs);
    events.prune(Date.now() - keepMs);
  };
  prune();
  const timer = setInterval(prune, day);
  return { close: () => clearInterval(timer) };
}
