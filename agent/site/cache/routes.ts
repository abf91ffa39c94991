import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Log } from '#base/log.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import { publicPart } from '#cache/pull/redirects.ts';
import { fromWireError, RailheadError } from '#contract/errors.ts';
import { Digest } from '#contract/images.ts';
import { type Route, route } from '#doors/routes.ts';
import type { LocalUser } from '../admin/localUser.ts';
import type { SiteState } from '../store/state.ts';
import { keepPins } from './pins.ts';
import { type Named, whichImage } from './which.ts';

export interface CacheRouteParts {
  cache: Pick<ImageCache, 'operator' | 'ask' | 'keep' | 'ready' | 'state'>;
  state: Pick<SiteState, 'cachePins' | 'cacheCatalog'>;
  log: Log;
}

/** What anybody may read who can reach the door. */
export function cacheReadRoutes(parts: CacheRouteParts, admit: Route['admit']): Route[] {
  return [
    route({
      ...{ method: 'GET', path: '/v1/cache', admit },
      answer: () => ({ ...parts.cache.operator.overview(), images: parts.cache.operator.list() }),
    }),
    route({
      ...{ method: 'GET', path: '/v1/cache/images/:image', admit },
      answer: (request) => shown(named(request, parts), parts),
    }),
  ];
}

type Act = (image: Named, user: LocalUser) => Promise<void> | void;

/** What changes the cache: over the local socket alone. Each leaves a line in the log that says who did what. */
export function cacheChangeRoutes(
  parts: CacheRouteParts,
  admit: (request: FastifyRequest) => LocalUser,
): Route[] {
  const acts = cacheActs(parts);
  return [
    ...Object.entries(acts).map(([name, act]) =>
      route<LocalUser>({
        ...{ method: 'POST', path: `/v1/cache/images/:image/${name}`, admit },
        answer: async (request, user) => {
          const image = named(request, parts);
          audit(parts.log, name, user, { ...image });
          await act(image, user);
          return shown(image, parts);
        },
      }),
    ),
    garbageRoute(parts, admit),
    importRoute(parts, admit),
  ];
}

function cacheActs({ cache, state }: CacheRouteParts): Record<string, Act> {
  return {
    pull: ({ digest, ref }) => {
      refuseWithdrawn(digest, cache);
      const image = state.cacheCatalog.find(digest);
      if (image !== undefined) cache.ask(image);
      else if (cache.operator.show(digest)?.state !== 'ready') throw unknownHere(ref, digest);
      // One that failed is tried again at once; who asks looks at its row.
      cache.ready(digest).catch(() => {});
    },
    pin: ({ digest, ref }, { uid }) => {
      refuseWithdrawn(digest, cache);
      state.cachePins.pin({ digest, ref, pinnedAt: Date.now(), uid });
      keepPins(cache, state);
    },
    unpin: ({ digest, ref }) => {
      if (!state.cachePins.unpin(digest))
        throw new RailheadError('INVALID_STATE', `${ref} is not pinned here`, {
          reason: 'not-pinned',
          digest,
        });
      keepPins(cache, state);
    },
    verify: ({ digest }) => {
      if (cache.operator.show(digest)?.state !== 'ready')
        throw new RailheadError('NOT_FOUND', 'the cache of this site does not hold this image', { digest });
      // It may take minutes; who asks looks at its row.
      cache.operator.verify(digest).catch(() => {});
    },
    evict: ({ digest }) => cache.operator.evict(digest),
  };
}

/** Nobody gets a withdrawn image, and nobody asks for it in advance. */
function refuseWithdrawn(digest: string, cache: CacheRouteParts['cache']): void {
  const error = cache.state(digest)?.error;
  if (error?.details?.reason === 'withdrawn') throw fromWireError(error);
}

const closed = { additionalProperties: false };

function garbageRoute({ cache, log }: CacheRouteParts, admit: (request: FastifyRequest) => LocalUser): Route {
  const body = Type.Object(
    { unused: Type.Optional(Type.Boolean()), dryRun: Type.Optional(Type.Boolean()) },
    closed,
  );
  return route<LocalUser>({
    ...{ method: 'POST', path: '/v1/cache/gc', admit, schema: { body } },
    answer: (request, user) => {
      const options = request.body as { unused?: boolean; dryRun?: boolean };
      audit(log, 'gc', user, options);
      return cache.operator.collectGarbage(options);
    },
  });
}

/** The bytes of the image are the body; they are hashed as they arrive, and nothing of them is visible before they proved right. */
function importRoute(
  { cache, state, log }: CacheRouteParts,
  admit: (request: FastifyRequest) => LocalUser,
): Route {
  const querystring = Type.Object(
    { digest: Digest, sizeBytes: Type.String({ pattern: '^\\d{1,15}$' }) },
    closed,
  );
  return route<LocalUser>({
    ...{ method: 'POST', path: '/v1/cache/import', admit, schema: { querystring } },
    answer: async (request, user) => {
      const { digest, sizeBytes } = request.query as { digest: string; sizeBytes: string };
      if (!(request.body instanceof Readable)) throw noBytes();
      audit(log, 'import', user, { digest });
      return cache.operator.importImage(request.body, {
        ...{ digest, sizeBytes: Number(sizeBytes) },
        known: (one) => state.cacheCatalog.find(one),
      });
    },
  });
}

function named({ params }: FastifyRequest, { cache, state }: CacheRouteParts): Named {
  return whichImage((params as { image: string }).image, { cache, cacheCatalog: state.cacheCatalog });
}

/** An image's row, or that it is known and not here. */
function shown({ digest, ref }: Named, { cache, state }: CacheRouteParts): object {
  const detail = cache.operator.show(digest) ?? { digest, ref, state: 'absent', ...cache.state(digest) };
  const catalog = state.cacheCatalog.find(digest);
  const pin = state.cachePins.all().find((one) => one.digest === digest);
  return {
    ...detail,
    ...(pin && { pinnedBy: { uid: pin.uid, at: new Date(pin.pinnedAt).toISOString() } }),
    ...(catalog && {
      format: catalog.format,
      compression: catalog.compression,
      sources: catalog.sources.map(publicSource),
    }),
  };
}

/** Without a password, and without the query, which is the secret of a presigned URL. */
function publicSource(source: string): string {
  return source.startsWith('https:') && URL.canParse(source) ? publicPart(new URL(source)) : source;
}

function noBytes(): RailheadError {
  const expected = 'the bytes of the image as application/octet-stream';
  return new RailheadError('INVALID_INPUT', `the body must be ${expected}`, { path: 'body', expected });
}

function audit(log: Log, action: string, { uid }: LocalUser, facts: object): void {
  log.info({ audit: `cache.${action}`, uid, ...facts }, 'an operator changes the cache');
}

function unknownHere(ref: string, digest: string): RailheadError {
  return new RailheadError('NOT_FOUND', `the centre has told this site nothing of ${ref}`, {
    reason: 'unknown-image',
    digest,
  });
}
