import type { TLSSocket } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';
import { RailheadError } from '#contract/errors.ts';
import { type ReportedImage, ReportedImage as Schema, wellFormed } from '../agents/reportSchema.ts';

/** Where a site's inventory is read. */
export interface InventoryPlace {
  /** `http://host:port` or `https://…`: its admin listener, or what stands before it. */
  url: string;
  /** sha256 of the certificate (DER) in lower-case hex: no other is believed. Without it the public CAs are. */
  pin?: string;
}

/** One reading: the whole inventory, or that it is what it was. */
export type Inventory = { etag: string | undefined; images: ReportedImage[] } | 'unchanged';

const pageSize = 1000;
/** A cache of more images is read no further. */
const mostPages = 50;
const mostBytes = 16 * 1024 * 1024;
const timeoutMs = 10_000;

/**
 * Reads `GET /v1/inventory/images` of a site, page by page; `etag` is that of the first page when it was read last. No redirect is followed.
 * @throws RailheadError DRIVER_ERROR when the answer is none of a site; the system's error when nobody answers, or another certificate is shown
 */
export async function readInventory(
  { url, pin }: InventoryPlace,
  etag: string | undefined,
  signal: AbortSignal,
): Promise<Inventory> {
  const dispatcher = new Agent({
    connect: pinnedConnector(pin),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: mostBytes,
  });
  try {
    const images: ReportedImage[] = [];
    let first: string | undefined;
    for (let page = 0, cursor: string | undefined; page < mostPages; page++) {
      const headers = page === 0 && etag !== undefined ? { 'if-none-match': etag } : {};
      const answer = await request(pageUrl(url, cursor), { dispatcher, headers, signal });
      if (page === 0 && answer.statusCode === 304) return 'unchanged';
      const read = pageIn(url, answer.statusCode, await answer.body.json().catch(() => undefined));
      if (page === 0) first = headerText(answer.headers.etag);
      images.push(...read.images);
      cursor = read.cursor;
      if (cursor === undefined) break;
    }
    return { etag: first, images };
  } finally {
    await dispatcher.destroy();
  }
}

function pageUrl(base: string, cursor: string | undefined): URL {
  const url = new URL('/v1/inventory/images', base);
  url.searchParams.set('limit', String(pageSize));
  if (cursor !== undefined) url.searchParams.set('cursor', cursor);
  return url;
}

function pageIn(url: string, status: number, body: unknown): { images: ReportedImage[]; cursor?: string } {
  const { images, cursor } = (body ?? {}) as { images?: unknown; cursor?: unknown };
  if (status !== 200 || !Array.isArray(images))
    throw new RailheadError(
      'DRIVER_ERROR',
      `${url} answers no inventory (HTTP ${status}): check the site's inventory URL`,
      {
        reason: 'inventory',
        status,
      },
    );
  const { good } = wellFormed(Schema, images);
  return { images: good, ...(typeof cursor === 'string' && { cursor }) };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** A certificate that is pinned need be vouched for by nobody else. */
function pinnedConnector(pin: string | undefined): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, rejectUnauthorized: pin === undefined });
  return (options, done) =>
    connect(options, (error, socket) => {
      if (error !== null) return done(error, null);
      if (pin === undefined || shownBy(socket as TLSSocket) === pin) return done(null, socket);
      socket.destroy();
      done(new Error('another certificate than the pinned one is shown'), null);
    });
}

function shownBy(socket: TLSSocket): string | undefined {
  return socket.getPeerCertificate?.().fingerprint256?.replaceAll(':', '').toLowerCase();
}
