import type { ImageCache } from '#cache/imageCache.ts';
import { type AgentReport, protocolVersion } from '#contract/agentWire.ts';
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
  signal: AbortSignal;
}

const batch = { results: 100, events: 500 };

/** Tells the centre, oldest first, what it has not taken. Returns one call of the loop: one report, or a wait for news. */
export function reporting({
  client,
  state,
  cache,
  progress,
  seen,
  news,
  signal,
}: ReportingParts): () => Promise<void> {
  let toldInventory: string | undefined;

  return async () => {
    const turn = news.turn;
    const { etag, images } = cache.inventory();
    const machines = seen.take();
    const report: AgentReport = {
      protocol: protocolVersion,
      observedGeneration: state.spec.generation(),
      results: state.journal.results(batch.results),
      progress: progress.take(),
      events: state.events.untold(batch.events),
      ...(machines.length === 0 ? {} : { machines }),
      ...(etag === toldInventory ? {} : { images }),
    };
    if (isEmpty(report)) return news.after(turn, 3_600_000, signal);
    await client.report(report, signal);
    state.atomically(() => {
      state.journal.taken(report.results);
      state.events.taken(report.events);
    });
    seen.taken(machines);
    toldInventory = etag;
  };
}

function isEmpty({ results, progress, events, machines, images }: AgentReport): boolean {
  return (
    results.length + progress.length + events.length === 0 && machines === undefined && images === undefined
  );
}
