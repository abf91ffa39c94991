import { steadyClock } from '#base/clock.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import { type AgentReport, protocolVersion, type SiteSettings } from '#contract/agentWire.ts';
import type { SeenMachineNews } from '../discovery/news.ts';
import type { SiteState } from '../store/state.ts';
import type { Wake } from '../wake.ts';
import type { CentreClient } from './centreClient.ts';
import type { ProgressBox } from './progress.ts';

export interface ReportingParts {
  client: Pick<CentreClient, 'report'>;
  state: Pick<SiteState, 'journal' | 'events' | 'spec' | 'atomically'>;
  cache: Pick<ImageCache, 'inventory'>;
  progress: ProgressBox;
  seen: Pick<SeenMachineNews, 'take' | 'taken'>;
  news: Wake;
  settings: SiteSettings;
  signal: AbortSignal;
}

/** Of what one report holds; the centre takes 8 MiB. */
const batch = { results: 100, resultBytes: 4 * 1024 * 1024, events: 500, eventBytes: 2 * 1024 * 1024 };
/** So often the whole inventory is told though nothing changed: a centre that was put back to an older state comes to know it again. */
const resyncMs = 15 * 60_000;

/** Tells the centre, oldest first, what it has not taken. Returns one call of the loop: one report, or a wait for news. */
export function reporting({
  client,
  state,
  cache,
  progress,
  seen,
  news,
  settings,
  signal,
}: ReportingParts): () => Promise<void> {
  let toldInventory: string | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;

  return async () => {
    const turn = news.turn;
    const { etag, images } = cache.inventory();
    const untilResync = toldAt + resyncMs - steadyClock.now();
    const isTold = etag === toldInventory && untilResync > 0;
    const machines = seen.take();
    const report: AgentReport = {
      protocol: protocolVersion,
      observedGeneration: state.spec.generation(),
      results: state.journal.results(batch.results, batch.resultBytes),
      progress: progress.take(),
      events: state.events.untold(batch.events, batch.eventBytes),
      ...(machines.length === 0 ? {} : { machines }),
      ...(isTold ? {} : { images, settings }),
    };
    if (isEmpty(report)) return news.after(turn, untilResync, signal);
    await client.report(report, signal);
    state.atomically(() => {
      state.journal.taken(report.results);
      state.events.taken(report.events);
    });
    seen.taken(machines);
    if (isTold) return;
    toldInventory = etag;
    toldAt = steadyClock.now();
  };
}

function isEmpty({ results, progress, events, machines, images }: AgentReport): boolean {
  return (
    results.length + progress.length + events.length === 0 && machines === undefined && images === undefined
  );
}
