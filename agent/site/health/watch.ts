import { ignore } from '#base/errors.ts';
import { hasController, isOtherBmc } from '#contract/bmcBinding.ts';
import type { BmcHealth } from '#contract/bmcHealth.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { RateLimiter } from '#doors/rateLimiter.ts';
import type { SiteState } from '../store/state.ts';
import { type Looked, type LookParts, lookAtHealth, lookAtLog, newLooked } from './look.ts';

export interface HealthWatchParts extends LookParts {
  state: LookParts['state'] & Pick<SiteState, 'spec'>;
  /** How often each BMC is asked, in milliseconds; half as much again at most. */
  everyMs: number;
  /** How often each BMC's log is read, in milliseconds, at the next of the times above. */
  logEveryMs: number;
  /** Whether what happens at a node's BMC is told to us: then it is asked less often. */
  isAlive?(nodeId: string): boolean;
}

export interface HealthWatch {
  /** Looks at a node's BMC at once, and once more a little later: something happened there. */
  look(nodeId: string): void;
  /** What a node's BMC said last, since the start of this process. */
  lastOf(nodeId: string): BmcHealth | undefined;
  close(): Promise<void>;
}

/** More BMCs than that are not asked at once; some of them only wait for the end of an operation. */
const mostAtOnce = 64;
/** A BMC that tells a hundred things is not asked a hundred times. */
const leastGapMs = 1000;
/** A BMC may tell of a change before it shows it, and changes of power take a while. */
const settleMs = 5000;
/**
 * So much longer are the times while a BMC tells by itself. With the default of five minutes its session is still used before most BMCs end it,
 * after half an hour.
 */
const stretched = 3;
/** So many looks in a row because of events, then one each half minute: some BMCs never stop talking. */
const looks = { perSecond: 1 / 30, burst: 20 };

interface Watched {
  node: SiteNode;
  looked: Looked;
  dueAt: number;
  logDueAt: number;
  askedAt: number;
  asking: boolean;
  /** Something happened: a second look is due then. */
  settleAt?: number | undefined;
  /** The node has left, or has another BMC: what this one still says is no news. */
  gone: AbortController;
}

/**
 * Asks every BMC of the site slowly, each in its own time, and tells the centre what has changed: power, health, and entries of its log. The
 * first round is spread over one interval, so that a start asks nobody at once.
 */
export function watchHealth(parts: HealthWatchParts): HealthWatch {
  const { state, everyMs } = parts;
  const watched = new Map<string, Watched>();
  const asking = new Set<Promise<void>>();
  const stop = new AbortController();
  const limiter = new RateLimiter(looks);
  const tick = () => {
    const now = Date.now();
    const nodes = (state.spec.current()?.site?.nodes ?? []).filter(
      ({ bmc }) => bmc !== undefined && hasController(bmc),
    );
    if (forgetOthers(watched, nodes)) state.bmcLogs.retain([...watched.keys()]);
    for (const node of nodes) {
      const entry = entryOf(watched, node, now, everyMs);
      if (entry.dueAt > now || entry.asking || asking.size >= mostAtOnce) continue;
      const signal = AbortSignal.any([stop.signal, entry.gone.signal]);
      const one = ask(entry, now, { ...parts, signal }).finally(() => asking.delete(one));
      asking.add(one);
    }
  };
  const timer = setInterval(tick, Math.min(1000, everyMs));
  timer.unref();
  return {
    look: (nodeId) => {
      if (!watched.has(nodeId)) tick();
      const entry = watched.get(nodeId);
      if (entry === undefined) return;
      const now = Date.now();
      const patienceMs = 1000 * limiter.take(nodeId);
      entry.dueAt = Math.min(entry.dueAt, Math.max(now + patienceMs, entry.askedAt + leastGapMs));
      entry.logDueAt = 0;
      entry.settleAt = now + patienceMs + settleMs;
      // A BMC that tells of a thousand things a second has nobody else's looked up as often.
      if (entry.dueAt <= now) tick();
    },
    lastOf: (nodeId) => watched.get(nodeId)?.looked.health,
    close: async () => {
      clearInterval(timer);
      stop.abort();
      await Promise.all([...asking].map((one) => one.catch(ignore)));
    },
  };
}

/** A BMC in the place of another one is asked at once, and told whatever it says. */
function entryOf(watched: Map<string, Watched>, node: SiteNode, now: number, everyMs: number): Watched {
  const known = watched.get(node.nodeId);
  if (known !== undefined && !isOtherBmc(known.node.bmc, node.bmc)) {
    known.node = node;
    return known;
  }
  known?.gone.abort();
  const entry = newWatched(node, known === undefined ? now + Math.random() * everyMs : now);
  watched.set(node.nodeId, entry);
  return entry;
}

function newWatched(node: SiteNode, dueAt: number): Watched {
  const gone = new AbortController();
  return { node, looked: newLooked(), dueAt, logDueAt: 0, askedAt: 0, asking: false, gone };
}

function forgetOthers(watched: Map<string, Watched>, nodes: readonly SiteNode[]): boolean {
  const known = new Set(nodes.map(({ nodeId }) => nodeId));
  const gone = [...watched.keys()].filter((nodeId) => !known.has(nodeId));
  for (const nodeId of gone) {
    watched.get(nodeId)?.gone.abort();
    watched.delete(nodeId);
  }
  return gone.length > 0;
}

/** The next time is set before the BMC is asked: whatever happens meanwhile may bring it forward. */
async function ask(entry: Watched, now: number, parts: HealthWatchParts): Promise<void> {
  const slower = parts.isAlive?.(entry.node.nodeId) ? stretched : 1;
  const everyMs = parts.everyMs * slower;
  const logEveryMs = parts.logEveryMs * slower;
  entry.asking = true;
  entry.askedAt = now;
  const usual = now + everyMs * (1 + Math.random() / 2);
  const settle = entry.settleAt !== undefined && entry.settleAt > now ? entry.settleAt : undefined;
  entry.dueAt = Math.min(usual, settle ?? usual);
  if (settle === undefined) entry.settleAt = undefined;
  try {
    const answered = await lookAtHealth(entry.node, entry.looked, parts);
    if (!answered || entry.logDueAt > now) return;
    entry.logDueAt = settle ?? now + logEveryMs;
    await lookAtLog(entry.node, entry.looked, parts);
  } catch (error) {
    parts.log.error({ err: error, nodeId: entry.node.nodeId }, 'what a BMC told could not be kept');
  } finally {
    entry.asking = false;
  }
}
