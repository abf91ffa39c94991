import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { ImageCache } from '#cache/imageCache.ts';
import type { CachedImage } from '#contract/images.ts';
import { type Route, route } from '#doors/routes.ts';

const Query = Type.Object(
  {
    limit: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,3}$' })),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  },
  { additionalProperties: false },
);

/**
 * `GET /v1/inventory/images`: every image of the cache in the order of their digests, or with `limit` (at most 9999) a page of it; `cursor` of an answer asks for
 * the next. Each page has an entity tag that changes with what it says, progress apart, and is answered by 304 to who has it.
 */
export function inventoryRoute(cache: Pick<ImageCache, 'inventory'>, admit: Route['admit']): Route {
  return route({
    ...{ method: 'GET', path: '/v1/inventory/images', admit, schema: { querystring: Query } },
    answer: (request, _caller, reply) => {
      const { limit, cursor } = request.query as { limit?: string; cursor?: string };
      const { etag, images } = cache.inventory();
      const quoted = `"${[etag.replaceAll(/W\/|"/g, ''), limit, cursor].filter(Boolean).join('.')}"`;
      reply.header('etag', quoted);
      if (has(request, quoted)) return reply.code(304).send();
      return pageOf(images, limit === undefined ? undefined : Number(limit), cursor);
    },
  });
}

/** What comes after `cursor`, which need not be there any more. */
export function pageOf(
  images: readonly CachedImage[],
  limit: number | undefined,
  cursor: string | undefined,
): { images: readonly CachedImage[]; cursor?: string } {
  const rest = cursor === undefined ? images : images.filter(({ digest }) => digest > cursor);
  if (limit === undefined || rest.length <= limit) return { images: rest };
  const page = rest.slice(0, limit);
  return { images: page, cursor: page.at(-1)!.digest };
}

function has({ headers }: FastifyRequest, etag: string): boolean {
  return (
    headers['if-none-match']?.split(',').some((tag) => [etag, `W/${etag}`].includes(tag.trim())) ?? false
  );
}
