import { hasCode, RailheadError } from '#contract/errors.ts';
import { isHttpsUrl } from '#contract/httpsUrl.ts';
import type { StepInput } from '#contract/steps.ts';
import { dropIsoEntry } from '../../bootEntries.ts';
import { dropMedium } from '../../cachedMedia.ts';
import { resolveImage } from '../../images/resolve.ts';
import { deployUse, verifyImageForUse } from '../../images/verify.ts';
import { requireSite } from '../../sites.ts';
import type { Row } from '../../store/tables.ts';
import { underClaim } from '../claims.ts';
import { bootFromCache, mountFromCache } from '../isoAtSite.ts';
import { type OperationExtras, relay } from '../relay.ts';
import { resultOf } from '../results.ts';
import type { StepResult, StepRun } from '../stepRun.ts';
import { noteGiven } from '../withdrawn.ts';

/**
 * Mounts an ISO as virtual media: by its URL, by the `url` that an earlier step of this workflow returned, or one of the catalog, by its
 * source or from the site's cache, as the site is configured. A BMC without virtual media boots that one by `sanboot` from the cache instead.
 * @throws RailheadError INVALID_INPUT for an image that is no iso or that no BMC could mount, INVALID_STATE for one that does
 *   not verify, INVALID_CONFIG when the earlier step returned no https URL
 */
export async function insertMedia(
  run: StepRun,
  { url, fromStep, image }: StepInput<'media.insert'>,
): Promise<StepResult> {
  if (image !== undefined) return insertIso(run, await catalogIso(run, image));
  return mount(run, async () => url ?? (await urlOfStep(run, fromStep ?? '')));
}

/** A new medium takes the place of the old one, also of an ISO that the machine has from its site. */
async function mount(
  run: StepRun,
  urlToMount: () => Promise<string>,
  extras?: OperationExtras,
): Promise<StepResult> {
  const { central, workflow } = run;
  const makeInput = async () => {
    const url = await urlToMount();
    await underClaim(central.store, workflow, (queries) => dropIsoEntry(queries, workflow.node_id));
    return { url };
  };
  const mounted = await relay(run, 'media.insert', makeInput, undefined, extras);
  await underClaim(central.store, workflow, (queries) => dropMedium(queries, workflow.node_id));
  return mounted;
}

async function catalogIso(run: StepRun, ref: string): Promise<Row<'images'>> {
  const image = await resolveImage(run.central.store, run.workflow.tenant_id, ref);
  if (image.format !== 'iso') throw unusable(ref, `is ${image.format}: it goes through deploy.deploy`);
  if (image.compression !== 'none') throw unusable(ref, `is compressed (${image.compression})`);
  return image;
}

/** By `sanboot` only once the BMC has said that it cannot: no site pulls an ISO that its machines are given by their BMCs. */
async function insertIso(run: StepRun, image: Row<'images'>): Promise<StepResult> {
  const site = await requireSite(run.central.store, run.workflow.site_id);
  try {
    return await (site.media_from === 'cache' ? mountFromCache(run, image) : mountSource(run, image));
  } catch (error) {
    if (!lacksVirtualMedia(error)) throw error;
    return bootFromCache({ ...run, part: 'sanboot' }, image);
  }
}

/** @throws RailheadError INVALID_INPUT (`scheme`) for an image of a registry */
function mountSource(run: StepRun, image: Row<'images'>): Promise<StepResult> {
  const { store, images } = run.central;
  const { ref, source } = image;
  if (!source.startsWith('https://')) {
    const why = `has the source ${source}: no BMC can mount another than an https one, but the site can serve it to them (bmc.mediaFrom = "cache")`;
    throw unusable(ref, why, { reason: 'scheme' });
  }
  const verifiedUrl = async () => {
    await verifyImageForUse(store, image, deployUse(images, run.workflow.tenant_id));
    return source;
  };
  return mount(run, verifiedUrl, { noting: noteGiven(run, image, 'mounted') });
}

/** Without a virtual drive, or without the license for it. */
function lacksVirtualMedia(error: unknown): boolean {
  if (hasCode(error, 'UNSUPPORTED')) return error.details.reason === 'virtual-media';
  return hasCode(error, 'DRIVER_ERROR') && error.details.reason === 'license';
}

async function urlOfStep(run: StepRun, use: string): Promise<string> {
  const { url } = (await resultOf<{ url?: unknown }>(run, use)) ?? {};
  if (typeof url === 'string' && isHttpsUrl(url)) return url;
  const message = `the step ${use} has returned no https url to mount`;
  throw new RailheadError('INVALID_CONFIG', message, { path: 'fromStep', reason: 'no-url' });
}

function unusable(ref: string, why: string, more: object = {}): RailheadError {
  return new RailheadError('INVALID_INPUT', `image ${ref} ${why}`, { path: 'image', ref, ...more });
}
