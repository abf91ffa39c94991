import type { Closable } from '#base/shutdown.ts';
import type { SiteState } from './state.ts';

const day = 24 * 3_600_000;
/** How long what the centre has taken is kept, in milliseconds. */
const keepMs = 30 * day;

type Pruned = Pick<SiteState, 'journal' | 'events' | 'entries' | 'tokens'>;

/** Keeps the database from growing without end: at the start, and once a day. */
export function startPruning(state: Pruned): Closable {
  const prune = () => {
    for (const part of [state.journal, state.events, state.entries, state.tokens])
      part.prune(Date.now() - keepMs);
  };
  prune();
  const timer = setInterval(prune, day);
  return { close: () => clearInterval(timer) };
}
