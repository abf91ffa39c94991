import type { CacheImage } from '#contract/images.ts';
import type { SiteNode, SiteSection } from '#contract/nodeSpec.ts';
import { desiredEntries } from '../bootEntries.ts';
import type { CentralContext } from '../context.ts';
import type { PoolPolicy } from '../groups/poolPolicy.ts';
import { findImage } from '../images/resolve.ts';
import { verifyImageForUse } from '../images/verify.ts';
import type { Row } from '../store/tables.ts';

/** What a site is to hold, know and serve as of now. */
export async function siteSection(context: CentralContext, siteId: string): Promise<SiteSection> {
  return {
    cacheImages: await desiredImages(context, siteId),
    nodes: await siteNodes(context, siteId),
    bootEntries: await desiredEntries(context.store, siteId),
  };
}

/** The images that the site's pools pre-warm or boot, each verified now; one that does not verify is left out. */
async function desiredImages(context: CentralContext, siteId: string): Promise<CacheImage[]> {
  const pools = await context.store
    .selectFrom('pools')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('pool_id')
    .execute();
  const wanted = pools.flatMap((pool) =>
    desiredRefs(JSON.parse(pool.policy) as PoolPolicy).map((ref) => ({ tenantId: pool.tenant_id, ref })),
  );
  const images = new Map<string, CacheImage>();
  for (const { tenantId, ref } of wanted) {
    const image = await usableImage(context, tenantId, ref);
    if (image !== undefined) images.set(image.digest, image);
  }
  return [...images.values()];
}

function desiredRefs({ prewarmImages, ramdisk }: PoolPolicy): string[] {
  return [...Object.values(ramdisk), ...prewarmImages];
}

async function usableImage(
  { store, log }: CentralContext,
  tenantId: string,
  ref: string,
): Promise<CacheImage | undefined> {
  const image = await findImage(store, tenantId, ref);
  if (image === undefined) return undefined;
  try {
    return cacheImage(image, await verifyImageForUse(store, image));
  } catch (error) {
    log.warn({ ref, tenantId, err: error }, 'an image that a pool wants is not handed to its site');
    return undefined;
  }
}

function cacheImage(image: Row<'images'>, signerKey: string): CacheImage {
  const { ref, kind, sha256: digest, format, compression, size_bytes: sizeBytes } = image;
  return {
    ref,
    kind,
    digest,
    ...(sizeBytes === null ? {} : { sizeBytes }),
    format,
    compression,
    sources: [image.source],
    signature: image.signature ?? '',
    signerKey,
  };
}

async function siteNodes({ store }: CentralContext, siteId: string): Promise<SiteNode[]> {
  const nodes = await store
    .selectFrom('nodes')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('node_id')
    .execute();
  const macs = await store
    .selectFrom('node_macs')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('mac')
    .execute();
  return nodes.map((node) =>
    siteNode(
      node,
      macs.filter((row) => row.node_id === node.node_id).map((row) => row.mac),
    ),
  );
}

function siteNode(node: Row<'nodes'>, macs: string[]): SiteNode {
  return {
    nodeId: node.node_id,
    macs,
    ...(node.uuid === null ? {} : { uuid: node.uuid }),
    ...(node.hostname === null ? {} : { hostname: node.hostname }),
    ...(node.address === null ? {} : { address: node.address }),
    ...(node.bmc === null ? {} : { bmc: JSON.parse(node.bmc) as NonNullable<SiteNode['bmc']> }),
  };
}
