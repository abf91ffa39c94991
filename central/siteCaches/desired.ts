import type { CacheImage } from '#contract/images.ts';
import { isosToServe } from '../bootEntries.ts';
import { mediaToHold } from '../cachedMedia.ts';
import type { CentralContext } from '../context.ts';
import { type PoolPolicy, readPoolPolicy } from '../groups/poolPolicy.ts';
import { findImage } from '../images/resolve.ts';
import type { Vouched } from '../images/verifier.ts';
import { verifyImageForUse } from '../images/verify.ts';
import { siteTopic } from '../signals.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { rootTenant } from '../tenants.ts';
import { mergeImages, type WantedImage } from './mergeImages.ts';

/**
 * The images that a site is to hold: the ramdisks that its pools boot, then what they pre-warm, then the ISOs that its boot entries
 * name and that its BMCs read from it. Each is verified now, and one that does not verify is left out; those of one digest are one.
 */
export async function desiredImages(context: CentralContext, siteId: string): Promise<CacheImage[]> {
  const pools = await context.store
    .selectFrom('pools')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('pool_id')
    .execute();
  const wanted: (WantedImage | undefined)[] = [];
  for (const pool of pools)
    for (const ref of wantedBy(readPoolPolicy(pool.policy)))
      wanted.push(await wantedImage(context, pool.tenant_id, ref));
  for (const iso of await isosToServe(context.store, siteId)) wanted.push(await usableImage(context, iso));
  for (const iso of await mediaToHold(context.store, siteId)) wanted.push(await mediumToHold(context, iso));
  return mergeImages(wanted.filter((image) => image !== undefined));
}

/** A ref of a pool's policy, and whether it must name a ramdisk. */
interface Wanted {
  ref: string;
  isRamdisk: boolean;
}

/** The ramdisks first: without them no machine of the pool boots. */
function wantedBy({ prewarmImages, ramdisk }: PoolPolicy): Wanted[] {
  const ramdisks = Object.values(ramdisk).map((ref) => ({ ref, isRamdisk: true }));
  return [...ramdisks, ...prewarmImages.map((ref) => ({ ref, isRamdisk: false }))];
}

async function wantedImage(
  context: CentralContext,
  tenantId: string,
  { ref, isRamdisk }: Wanted,
): Promise<WantedImage | undefined> {
  const image = await findImage(context.store, tenantId, ref);
  if (image === undefined || (isRamdisk && image.kind !== 'ramdisk')) return undefined;
  return usableImage(context, image);
}

/** Unlike what firmware boots, a medium is read by a URL that one BMC was given: a private one stays so. */
async function mediumToHold(context: CentralContext, iso: Row<'images'>): Promise<WantedImage | undefined> {
  const usable = await usableImage(context, iso);
  if (usable === undefined || iso.visibility !== 'private') return usable;
  return { ...usable, image: { ...usable.image, private: true } };
}

async function usableImage(
  { store, images, log }: CentralContext,
  image: Row<'images'>,
): Promise<WantedImage | undefined> {
  try {
    const vouched = await verifyImageForUse(store, image, { verifier: images.verifier });
    return { isPlatform: image.tenant_id === rootTenant, image: cacheImage(image, vouched) };
  } catch (error) {
    const { ref, tenant_id: tenantId } = image;
    log.warn({ ref, tenantId, err: error }, 'an image that a site wants is not handed to it');
    return undefined;
  }
}

/** A signature goes along only with the key that it verifies by: a verifier of the host's own may know none. */
function cacheImage(image: Row<'images'>, { signerKey }: Vouched): CacheImage {
  const { ref, kind, sha256: digest, format, compression, size_bytes: sizeBytes, signature } = image;
  return {
    ref,
    kind,
    digest,
    ...(sizeBytes === null ? {} : { sizeBytes }),
    format,
    compression,
    sources: [image.source],
    ...(isPrivate(image) && { private: true }),
    ...(signerKey === undefined || signature === null ? {} : { signature, signerKey }),
  };
}

/** What firmware and iPXE load is read before anybody could show who it is: a ramdisk, and an ISO to boot, are not kept from their network. */
function isPrivate({ visibility, kind, format }: Row<'images'>): boolean {
  return visibility === 'private' && kind === 'os' && format !== 'iso';
}

/** Has the agents look at once at their desired state whose pools want an image's ref: it may mean another image now. */
export async function refreshSitesThatWant(
  { store, signals }: CentralContext,
  image: Pick<Row<'images'>, 'ref'>,
): Promise<void> {
  signals.notify(...(await sitesThatWant(store, image.ref)).map(siteTopic));
}

/** The sites with a pool that pre-warms or boots this ref. */
export async function sitesThatWant(store: Queries, ref: string): Promise<string[]> {
  const pools = await store
    .selectFrom('pools')
    .select(['site_id', 'policy'])
    // Narrows down what is read. A `_` matches too much, and the look at the policy sees to that.
    .where('policy', 'like', `%${JSON.stringify(ref).replaceAll('\\', '_')}%`)
    .execute();
  const wanting = pools.filter((pool) =>
    wantedBy(readPoolPolicy(pool.policy)).some((wanted) => wanted.ref === ref),
  );
  return [...new Set(wanting.map((pool) => pool.site_id))];
}
