import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { PacketTap } from '#bootserver/packetTap.ts';
import { pcapRecord } from '#bootserver/pcapFile.ts';
import { canonicalMac } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { goneSignal } from '#doors/goneSignal.ts';
import { type Route, route } from '#doors/routes.ts';
import type { SiteState } from '../store/state.ts';
import { shownEvent } from './shown.ts';

export interface TraceParts {
  tap: PacketTap;
  state: Pick<SiteState, 'events'>;
}

const most = 500;
const longestWaitMs = 20_000;
const lookEveryMs = 200;

/** How a trace follows a machine: events after a number, for which it waits a while. On the local socket alone. */
export function traceRoutes({ state, tap }: TraceParts, admit: Route['admit']): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/trace/:mac',
      admit,
      answer: async (request, _caller, reply) => {
        const mac = macOf(request);
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
    route({
      method: 'GET',
      path: '/v1/trace/:mac/packets',
      admit,
      answer: (request) => {
        const { after = '0' } = request.query as { after?: string };
        const { datagrams, last } = tap.since(macOf(request), Number(after) || 0);
        return { records: datagrams.map((datagram) => pcapRecord(datagram).toString('base64')), last };
      },
    }),
  ];
}

function macOf({ params }: FastifyRequest): string {
  const mac = canonicalMac((params as { mac: string }).mac);
  if (mac !== undefined) return mac;
  throw new RailheadError('INVALID_INPUT', 'name a hardware address of 6 bytes', { path: 'mac' });
}
