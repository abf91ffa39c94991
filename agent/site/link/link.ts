import type { KeyObject } from 'node:crypto';
import type { Log } from '#base/log.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import type { SiteSettings } from '#contract/agentWire.ts';
import type { Operation } from '#contract/operations.ts';
import type { TrustExchange } from '../../join/trustExchange.ts';
import type { SeenMachineNews } from '../discovery/news.ts';
import type { Executor } from '../operations/executor.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { SiteState } from '../store/state.ts';
import type { Wake } from '../wake.ts';
import type { CentreClient } from './centreClient.ts';
import { polling } from './polling.ts';
import type { ProgressBox } from './progress.ts';
import { reporting } from './reporting.ts';
import { repeatForever } from './retry.ts';

export interface LinkParts {
  siteId: string;
  signingKeys(): readonly KeyObject[];
  client: CentreClient;
  trust: TrustExchange;
  state: SiteState;
  cache: ImageCache;
  executor: Executor;
  secrets: Secrets;
  progress: ProgressBox;
  seen: SeenMachineNews;
  machines: Wake;
  news: Wake;
  /** Told to the centre. */
  settings: SiteSettings;
  confirm(operationId: string): void;
  /** Told of the operations that the journal has just taken in. */
  onOperations(operations: readonly Operation[]): void;
  log: Log;
}

/**
 * Keeps the site in touch with the centre: first what is queued goes up, then a report loop and a long poll run side by side. While
 * the centre is away both keep trying, and everything that the site does goes on.
 */
export function startLink(parts: LinkParts): { close(): Promise<void> } {
  const stop = new AbortController();
  const loop = { signal: stop.signal, log: parts.log };
  const report = reporting({ ...parts, signal: stop.signal });
  const poll = polling({ ...parts, signal: stop.signal });
  const firstReport = report().catch((error: unknown) => {
    parts.log.warn({ err: error }, 'the centre cannot be reached yet');
  });
  const loops = firstReport.then(() =>
    Promise.all([
      repeatForever('reporting to the centre', report, loop),
      repeatForever('polling the centre', poll, loop),
    ]),
  );
  const stopListening = parts.cache.onChange(parts.news.wake);
  return {
    close: async () => {
      stopListening();
      stop.abort();
      parts.progress.close();
      await loops;
      await parts.client.close();
    },
  };
}
