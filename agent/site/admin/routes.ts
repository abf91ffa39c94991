import type { Log } from '#base/log.ts';
import { version } from '#base/version.ts';
import type { PacketTap } from '#bootserver/packetTap.ts';
import type { TroubleCounts } from '#bootserver/troubles.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import type { SiteEvent } from '#contract/agentWire.ts';
import { canonicalMac } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { addRoutes, type Route, route } from '#doors/routes.ts';
import type { Revocations } from '../../join/revocations.ts';
import { inventoryRoute } from '../cache/inventoryRoute.ts';
import { cacheChangeRoutes, cacheReadRoutes } from '../cache/routes.ts';
import type { SeenMachines } from '../discovery/seenMachines.ts';
import type { Requests } from '../drivers/requests.ts';
import type { HealthWatch } from '../health/watch.ts';
import { createSiteDoor, type Door } from '../http/door.ts';
import type { SiteState } from '../store/state.ts';
import { traceRoutes } from '../trace/routes.ts';
import { shownEvent, shownToAnyone } from '../trace/shown.ts';
import { confirmRoutes } from './confirm.ts';
import { type ConsoleRouteParts, consoleRoutes } from './console.ts';
import { type HealthParts, health } from './health.ts';
import { localUser } from './localUser.ts';
import { metrics } from './metrics.ts';
import { type RedfishRouteParts, redfishRoutes } from './redfish.ts';
import { type TrustBmcParts, trustBmcRoutes } from './trustBmc.ts';

export interface AdminParts extends HealthParts, Pick<ConsoleRouteParts, 'consoles' | 'recorder'> {
  state: SiteState;
  bmcs: RedfishRouteParts['bmcs'] & TrustBmcParts['bmcs'];
  revocations: Pick<Revocations, 'current'>;
  troubles: Pick<TroubleCounts, 'of'>;
  cache: Pick<ImageCache, 'inventory' | 'operator' | 'ask' | 'keep' | 'ready' | 'state'>;
  seen: Pick<SeenMachines, 'all' | 'ignored'>;
  tap: PacketTap;
  requests: Pick<Requests, 'open' | 'confirm'>;
  watch: Pick<HealthWatch, 'lastOf'>;
  log: Log;
}

const timelineLength = 500;

/** The routes for operators that only read, the same on the admin listener and on the local socket. */
export function adminRoutes(
  parts: AdminParts,
  admit: Route['admit'],
  shown: (event: SiteEvent) => object = shownEvent,
): Route[] {
  const get = (path: string, answer: Route['answer']) => route({ method: 'GET', path, admit, answer });
  return [
    get('/healthz', () => health(parts)),
    get('/metrics', (_request, _caller, reply) =>
      reply.type('text/plain; version=0.0.4').send(metrics(parts)),
    ),
    get('/v1/status', () => status(parts)),
    get('/v1/machines', () => ({ machines: machines(parts) })),
    get('/v1/discovery', () => ({ machines: discovered(parts) })),
    get('/v1/machines/:mac', ({ params }) => machine((params as { mac: string }).mac, parts, shown)),
    inventoryRoute(parts.cache, admit),
    ...cacheReadRoutes(parts, admit),
  ];
}

export function createAdminDoor(parts: AdminParts, admit: Route['admit']): Door {
  const door = createSiteDoor({ log: parts.log });
  addRoutes(door, adminRoutes(parts, admit, shownToAnyone));
  return door;
}

/** The door of the local socket: those who own the agent may change its cache as well. */
export function createLocalDoor(parts: AdminParts): Door {
  const door = createSiteDoor({ log: parts.log, patient: true });
  // The bytes of an image are read as they come; how many may come is the cache's to say.
  door.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
  addRoutes(door, [
    ...adminRoutes(parts, localUser),
    ...cacheChangeRoutes(parts, localUser),
    ...traceRoutes(parts, localUser),
    ...confirmRoutes(parts, localUser),
    ...redfishRoutes(parts, localUser),
    ...consoleRoutes(parts, localUser),
    ...trustBmcRoutes(parts, localUser),
  ]);
  return door;
}

function status({ siteId, state, kept, revocations, requests }: AdminParts) {
  const { expiresAt, counter, trustNumber, revoked } = kept.current;
  const open = [...state.journal.open('site'), ...state.journal.open('ramdisk')];
  return {
    siteId,
    version,
    identity: {
      expiresAt,
      renewals: counter,
      trustNumber,
      revocationsNumber: revocations.current()?.number ?? 0,
      ...(revoked !== undefined && { revoked }),
    },
    generation: state.spec.generation(),
    operations: open.map(({ operation: { operationId, nodeId, action, expiresAt }, startedAt }) => ({
      operationId,
      nodeId,
      action,
      expiresAt,
      state: startedAt === undefined ? 'received' : 'started',
    })),
    requests: requests.open().map(({ confirmed: _, ...request }) => request),
    recordings: state.recordings.open().map(({ recordingId, nodeId, until, askedBy }) => ({
      recordingId,
      nodeId,
      until: new Date(until).toISOString(),
      askedBy,
    })),
    resultsUntold: state.journal.untold(),
    bootEntries: state.entries.all(),
  };
}

/** Every machine that was seen or named, with its node. */
function machines({ state }: AdminParts) {
  const seen = new Map(state.events.machines().map(({ mac, lastSeen }) => [mac, lastSeen]));
  const named = state.spec.current()?.site?.nodes.flatMap((node) => node.macs) ?? [];
  return [...new Set([...seen.keys(), ...named])].sort().map((mac) => ({
    mac,
    ...nodeOf(mac, state),
    ...lastSeen(seen.get(mac)),
  }));
}

/** Every machine that was seen, the last one first, with its node and what its BMC said last. */
function discovered({ seen, state, watch }: AdminParts) {
  return seen.all().map((machine) => {
    const nodeId = machine.macs
      .map((mac) => state.spec.nodeByMac(mac)?.nodeId)
      .find((id) => id !== undefined);
    const health = nodeId === undefined ? undefined : watch.lastOf(nodeId);
    return {
      ...machine,
      ...(nodeId !== undefined && { nodeId }),
      ...(health !== undefined && { health }),
    };
  });
}

function machine(text: string, { state }: AdminParts, shown: (event: SiteEvent) => object) {
  const mac = canonicalMac(text);
  if (mac === undefined)
    throw new RailheadError('INVALID_INPUT', `${text} is no hardware address`, { path: 'mac' });
  return { mac, ...nodeOf(mac, state), timeline: state.events.timeline(mac, timelineLength).map(shown) };
}

function nodeOf(mac: string, state: SiteState): { nodeId?: string } {
  const nodeId = state.spec.nodeByMac(mac)?.nodeId;
  return nodeId === undefined ? {} : { nodeId };
}

function lastSeen(at: number | undefined): { lastSeen?: string } {
  return at === undefined ? {} : { lastSeen: new Date(at).toISOString() };
}
