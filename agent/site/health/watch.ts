import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { hasController } from '#contract/bmcBinding.ts';
import { type BmcHealth, healthText } from '#contract/bmcHealth.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { Bmcs } from '../operations/bmcs.ts';
import type { SiteState } from '../store/state.ts';

export interface HealthWatchParts {
  state: Pick<SiteState, 'spec' | 'events'>;
  bmcs: Pick<Bmcs, 'use'>;
  /** How often each BMC is asked, in milliseconds; half as much again at most. */
  everyMs: number;
  onEvent(): void;
  log: Log;
}

/** More BMCs than that are not asked at once. */
const mostAtOnce = 16;
/** One answer that was lost is no news. */
const lossesInARow = 2;

interface Watched {
  dueAt: number;
  losses: number;
  /** What was told last. */
  told?: string;
}

/**
 * Asks every BMC of the site slowly, each in its own time, and tells the centre what has changed: power and health. The first round is
 * spread over one interval, so that a start asks nobody at once.
 */
export function watchHealth(parts: HealthWatchParts): { close(): Promise<void> } {
  const { state, everyMs } = parts;
  const watched = new Map<string, Watched>();
  const asking = new Set<Promise<void>>();
  const tick = () => {
    const now = Date.now();
    const nodes = (state.spec.current()?.site?.nodes ?? []).filter(
      ({ bmc }) => bmc !== undefined && hasController(bmc),
    );
    forgetOthers(watched, nodes);
    for (const node of nodes) {
      const entry = watched.get(node.nodeId) ?? { dueAt: now + Math.random() * everyMs, losses: 0 };
      watched.set(node.nodeId, entry);
      if (entry.dueAt > now || asking.size >= mostAtOnce) continue;
      entry.dueAt = now + everyMs * (1 + Math.random() / 2);
      const one = askOne(node, entry, parts).finally(() => asking.delete(one));
      asking.add(one);
    }
  };
  const timer = setInterval(tick, Math.min(1000, everyMs));
  timer.unref();
  return {
    close: async () => {
      clearInterval(timer);
      await Promise.all([...asking].map((one) => one.catch(ignore)));
    },
  };
}

function forgetOthers(watched: Map<string, Watched>, nodes: readonly SiteNode[]): void {
  const known = new Set(nodes.map(({ nodeId }) => nodeId));
  for (const nodeId of watched.keys()) if (!known.has(nodeId)) watched.delete(nodeId);
}

async function askOne(
  node: SiteNode,
  entry: Watched,
  { state, bmcs, onEvent, log }: HealthWatchParts,
): Promise<void> {
  const health = await bmcs
    .use(node, async (bmc) => bmc.health?.())
    .catch((error: unknown) => {
      log.debug({ err: error, nodeId: node.nodeId }, 'a BMC did not tell its health');
      return lost(error, entry);
    });
  if (health === undefined) return;
  if (health.health !== 'Unreachable') entry.losses = 0;
  const told = JSON.stringify(health);
  if (told === entry.told) return;
  entry.told = told;
  const [mac] = node.macs;
  const place = { nodeId: node.nodeId, ...(mac !== undefined && { mac }) };
  state.events.add({ type: 'bmc.health', ...place, text: healthText(health), health });
  onEvent();
}

function lost(error: unknown, entry: Watched): BmcHealth | undefined {
  entry.losses++;
  const faults = [error instanceof Error ? error.message.slice(0, 256) : 'unknown'];
  return entry.losses < lossesInARow ? undefined : { health: 'Unreachable', faults };
}
