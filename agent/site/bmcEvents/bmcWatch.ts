import type { Log } from '#base/log.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import { durationMs } from '#contract/durations.ts';
import type { KeptIdentity } from '../../join/keptIdentity.ts';
import type { SiteConfig } from '../config.ts';
import { placeOf } from '../health/look.ts';
import { type HealthWatch, watchHealth } from '../health/watch.ts';
import type { Bmcs } from '../operations/bmcs.ts';
import type { SiteState } from '../store/state.ts';
import { hookPath, openHookListener } from './hookListener.ts';
import { keepSubscriptions, type Subscriptions } from './subscriptions.ts';

export interface BmcWatchParts {
  config: Pick<SiteConfig, 'bmc'>;
  state: SiteState;
  bmcs: Bmcs;
  kept: KeptIdentity;
  onEvent(): void;
  log: Log;
}

/**
 * Watches over the BMCs of the site: they are listened to, as far as they tell anything, and asked now and then all the same.
 * @throws RailheadError INVALID_CONFIG when the place where BMCs are to post cannot be had
 */
export async function watchBmcs(parts: BmcWatchParts): Promise<Closable & Pick<HealthWatch, 'lastOf'>> {
  const { config, state, bmcs, onEvent, log } = parts;
  const { healthEvery, logEvery, events } = config.bmc;
  const everyMs = durationMs(healthEvery);
  const watch = watchHealth({
    ...{ state, bmcs, everyMs, logEveryMs: durationMs(logEvery), onEvent, log },
    wayOf: (nodeId) => subscriptions.wayOf(nodeId),
    isAlive: (nodeId) => subscriptions.isAlive(nodeId),
  });
  const hookOf = hooksOf(parts);
  const subscriptions = keepSubscriptions({
    ...{ state, bmcs, mode: events.mode, hooks: state.bmcHooks, checkMs: everyMs, log },
    look: watch.look,
    say: (node, text) => {
      state.events.add({ type: 'bmc.events', ...placeOf(node), text });
      onEvent();
    },
    ...(hookOf !== undefined && { hookOf }),
  });
  const started: Closable[] = [watch, subscriptions];
  try {
    if (hookOf !== undefined) started.push(await openHook(parts, watch, subscriptions));
  } catch (error) {
    await closeAll(started);
    throw error;
  }
  return { lastOf: watch.lastOf, close: () => closeAll(started) };
}

function urlOf({ bmc: { events } }: BmcWatchParts['config']): string {
  return events.url ?? `https://${events.listen}`;
}

/** What each BMC is told to post to; undefined where this site does not listen. */
function hooksOf({ config, state }: BmcWatchParts) {
  const { mode, listen } = config.bmc.events;
  if (mode === 'poll' || listen === undefined) return undefined;
  const prefix = `${urlOf(config)}${hookPath}/`;
  return (nodeId: string) => {
    const token = state.bmcHooks.tokenOf(nodeId);
    return { prefix, destination: `${prefix}${token}`, context: token };
  };
}

function openHook(
  { config, state, kept, log }: BmcWatchParts,
  watch: HealthWatch,
  subscriptions: Subscriptions,
): Promise<Closable> {
  const onDelivery = (nodeId: string, isNews: boolean) => {
    subscriptions.delivered(nodeId);
    if (isNews) watch.look(nodeId);
  };
  const tls = urlOf(config).startsWith('https:') ? { identity: kept } : {};
  const where = config.bmc.events.listen ?? '';
  return openHookListener({ where, hooks: state.bmcHooks, onDelivery, log, ...tls });
}
