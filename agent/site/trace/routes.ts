import { setTimeout as delay } from 'node:timers/promises';
import { canonicalMac } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { goneSignal } from '#doors/goneSignal.ts';
import { type Route, route } from '#doors/routes.ts';
import type { SiteState } from '../store/state.ts';
import { shownEvent } from './shown.ts';

export interface TraceParts {
  state: Pick<SiteState, 'events'>;
}

const most = 500;
const longestWaitMs = 20_000;
const lookEveryMs = 200;

/** How a trace follows a machine: events after a number, for which it waits a while. On the local socket alone. */
export function traceRoutes({ state }: TraceParts, admit: Route['admit']): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/trace/:mac',
      admit,
      answer: async (request, _caller, reply) => {
        const mac = canonicalMac((request.params as { mac: string }).mac);
        if (mac === undefined)
          throw new RailheadError('INVALID_INPUT', 'name a hardware address of 6 bytes', { path: 'mac' });
        const { after = '0', wait = '0' } = request.query as { after?: string; wait?: string };
        const until = Date.now() + Math.min(longestWaitMs, Number(wait) * 1000 || 0);
        const gone = goneSignal(reply);
        for (;;) {
          const { events, last } = state.events.since(mac, Number(after) || 0, most);
          if (events.length > 0 || Date.now() >= until || gone.aborted)
            return { events: events.map(shownEvent), last };
          await delay(lookEveryMs);
        }
      },
    }),
  ];
}
