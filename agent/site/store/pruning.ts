import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import type { SiteState } from './state.ts';

const day = 24 * 3_600_000;
/** How long what the centre has taken is kept, in milliseconds. */
const keepMs = 30 * day;

const everyMs = 3_600_000;

type Pruned = Pick<
  SiteState,
  | 'journal'
  | 'events'
  | 'entries'
  | 'tokens'
  | 'spec'
  | 'mediaUrls'
  | 'bmcMemories'
  | 'recordings'
  | 'database'
>;

/** Keeps the database from growing without end: at the start, and once an hour. */
export function startPruning(state: Pruned, log: Log): Closable {
  const pruneOrSay = () => {
    try {
      prune(state);
    } catch (error) {
      log.error({ err: error }, 'what is old could not be forgotten');
    }
  };
  pruneOrSay();
  const timer = setInterval(pruneOrSay, everyMs);
  return { close: () => clearInterval(timer) };
}

function prune(state: Pruned): void {
  const { journal, events, entries, tokens, recordings, database } = state;
  for (const part of [journal, events, entries, tokens, recordings]) part.prune(Date.now() - keepMs);
  forgetStrangers(state);
  // The write-ahead log still has the bytes of what was forgotten until it begins anew.
  database.pragma('wal_checkpoint(TRUNCATE)');
}

/** What is kept for a node, and for its BMC, goes with it. */
function forgetStrangers({ spec, mediaUrls, bmcMemories }: Pruned): void {
  const nodes = spec.current()?.site?.nodes;
  if (nodes === undefined) return;
  mediaUrls.keepOnly(new Set(nodes.map(({ nodeId }) => nodeId)));
  bmcMemories.keepOnly(new Set(nodes.map(({ bmc }) => URL.parse(bmc?.address ?? '')?.hostname ?? '')));
}
