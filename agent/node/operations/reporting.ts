import { protocolVersion } from '#contract/agentWire.ts';
import type { CentreClient } from '../../site/link/centreClient.ts';
import type { ProgressBox } from '../../site/link/progress.ts';
import type { Wake } from '../../site/wake.ts';
import type { KeptSpec } from '../specFile.ts';
import type { Journal } from './journal.ts';

export interface ReportingParts {
  client: Pick<CentreClient, 'report'>;
  journal: Pick<Journal, 'untold' | 'told'>;
  progress: Pick<ProgressBox, 'take'>;
  spec: Pick<KeptSpec, 'generation'>;
  news: Wake;
  signal: AbortSignal;
}

/** Tells the centre how operations ended, and how far they are. Returns one call of the loop: one report, or a wait for news. */
export function reporting({
  client,
  journal,
  progress,
  spec,
  news,
  signal,
}: ReportingParts): () => Promise<void> {
  return async () => {
    const turn = news.turn;
    const told = { results: journal.untold(), progress: progress.take() };
    if (told.results.length + told.progress.length === 0) return news.after(turn, 3_600_000, signal);
    const observedGeneration = spec.generation();
    await client.report({ protocol: protocolVersion, observedGeneration, events: [], ...told }, signal);
    if (told.results.length > 0) await journal.told(told.results);
  };
}
