import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { type SourceTimeouts, sourceAgent } from './pull/source.ts';
import { Puller } from './puller.ts';
import { pullImage } from './pullImage.ts';
import type { Store } from './store.ts';

/** How images are pulled. */
export interface PullOptions {
  /** PEM of a CA that the image sources' certificates may be issued by, beside the system's. */
  sourceCa?: string;
  /** Downloads at a time; default 2. */
  parallelPulls?: number;
  /** Default: 10 s to connect, 30 s of silence. */
  timeouts?: SourceTimeouts;
}

export interface PullParts {
  store: Store;
  clock: Clock;
  quotaBytes: number;
  /** Digests that are not evicted for what is pulled. */
  spared: () => ReadonlySet<string>;
  onChange: () => void;
  log: Log;
}

export interface Pulls {
  puller: Puller;
  /** Stops every pull. */
  close(): Promise<void>;
}

const defaultTimeouts: SourceTimeouts = { connectMs: 10_000, idleMs: 30_000 };

/** The pulls of one cache, with the connections that they share. */
export function openPulls(options: PullOptions, parts: PullParts): Pulls {
  const { parallelPulls = 2, sourceCa, timeouts = defaultTimeouts } = options;
  const { store, clock, quotaBytes, spared, onChange, log } = parts;
  const dispatcher = sourceAgent(sourceCa, timeouts);
  const context = { store, clock, quotaBytes, dispatcher, spared };
  const puller = new Puller({
    pullOnce: (image, onReceived, signal) => pullImage(image, { ...context, onReceived, signal }),
    parallelPulls,
    clock,
    onChange,
    onFailure: ({ ref, digest }, error, nextTryAt) =>
      log.warn({ ref, digest, err: error, nextTryAt }, 'an image could not be pulled'),
  });
  return {
    puller,
    close: async () => {
      await puller.close();
      await dispatcher.destroy();
    },
  };
}
