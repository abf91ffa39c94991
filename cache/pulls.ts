import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Bandwidth, type BandwidthWindow } from './bandwidth.ts';
import type { IsSpared } from './makingRoom.ts';
import type { SourceProxy } from './pull/proxy.ts';
import { type SourceTimeouts, sourceAgent } from './pull/source.ts';
import { Puller } from './puller.ts';
import { pullImage } from './pullImage.ts';
import type { Store } from './store.ts';

/** How images are pulled. */
export interface PullOptions {
  /** PEM of a CA that the image sources' certificates may be issued by, beside the system's. */
  sourceCa?: string;
  /** What all requests to sources go through. */
  proxy?: SourceProxy;
  /** What all pulls together may take of the link, by time of day; without it as much as there is. */
  bandwidth?: readonly BandwidthWindow[];
  /** Downloads at a time; default 2. As many more may run that somebody waits for. */
  parallelPulls?: number;
  /** Default: 10 s to connect, 30 s of silence. */
  timeouts?: SourceTimeouts;
}

export interface PullParts {
  store: Store;
  clock: Clock;
  quotaBytes: number;
  /** For durations: whoever sets the time of the day moves no pause. */
  steady: Clock;
  /** Whether an image is not evicted for what is pulled. */
  isSpared: IsSpared;
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
  const { parallelPulls = 2, sourceCa, proxy, bandwidth: windows = [], timeouts = defaultTimeouts } = options;
  const { store, clock, steady, quotaBytes, isSpared, onChange, log } = parts;
  const dispatcher = sourceAgent({ sourceCa, proxy, timeouts });
  const bandwidth = new Bandwidth(windows, clock, steady);
  const context = { store, clock, quotaBytes, dispatcher, isSpared };
  const puller = new Puller({
    pullOnce: (image, { onReceived, pass, signal }) => {
      const pace = async (bytes: number) => {
        await pass();
        await bandwidth.take(bytes, signal);
      };
      return pullImage(image, { ...context, onReceived, pace, signal });
    },
    parallelPulls,
    clock,
    steady,
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
