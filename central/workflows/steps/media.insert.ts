import { signDocument } from '#base/jws.ts';
import type { IsoEntry } from '#contract/bootEntry.ts';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { isHttpsUrl } from '#contract/httpsUrl.ts';
import type { StepInput } from '#contract/steps.ts';
import { desireEntry, dropIsoEntry } from '../../bootEntries.ts';
import { resolveImage } from '../../images/resolve.ts';
import { deployUse, verifyImageForUse } from '../../images/verify.ts';
import { touchImageLocation, unpinImages } from '../../siteCaches/locations.ts';
import type { Row } from '../../store/tables.ts';
import { boundEntry, nodeOf } from '../boundEntry.ts';
import { underClaim } from '../claims.ts';
import { type OperationExtras, relay } from '../relay.ts';
import { resultOf } from '../results.ts';
import type { StepResult, StepRun } from '../stepRun.ts';
import { noteGiven } from '../withdrawn.ts';

/**
 * Mounts an ISO as virtual media: by its URL, by the `url` that an earlier step of this workflow returned, or one of the catalog,
 * which a BMC without virtual media boots by `sanboot` from the site's cache instead.
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

/** A new medium takes the place of the old one, also of an ISO that the machine boots from its site. */
function mount(
  run: StepRun,
  urlToMount: () => Promise<string>,
  extras?: OperationExtras,
): Promise<StepResult> {
  const makeInput = async () => {
    const url = await urlToMount();
    const { central, workflow } = run;
    await underClaim(central.store, workflow, (queries) => dropIsoEntry(queries, workflow.node_id));
    return { url };
  };
  return relay(run, 'media.insert', makeInput, undefined, extras);
}

async function catalogIso(run: StepRun, ref: string): Promise<Row<'images'>> {
  const image = await resolveImage(run.central.store, run.workflow.tenant_id, ref);
  if (image.format !== 'iso') throw unusable(ref, `is ${image.format}: it goes through deploy.deploy`);
  if (image.compression !== 'none') throw unusable(ref, `is compressed (${image.compression})`);
  if (!image.source.startsWith('https://'))
    throw unusable(ref, `has the source ${image.source}: no BMC can mount another than an https one`, {
      reason: 'scheme',
    });
  return image;
}

/** Only once the BMC has said that it cannot: no site pulls an ISO that its machines are given by their BMCs. */
async function insertIso(run: StepRun, image: Row<'images'>): Promise<StepResult> {
  const { store, images } = run.central;
  const verifiedUrl = async () => {
    await verifyImageForUse(store, image, deployUse(images, run.workflow.tenant_id));
    return image.source;
  };
  try {
    return await mount(run, verifiedUrl, { noting: noteGiven(run, image, 'mounted') });
  } catch (error) {
    if (!lacksVirtualMedia(error)) throw error;
    return bootIsoInstead({ ...run, part: 'sanboot' }, image);
  }
}

/** Without a virtual drive, or without the license for it. */
function lacksVirtualMedia(error: unknown): boolean {
  if (hasCode(error, 'UNSUPPORTED')) return error.details.reason === 'virtual-media';
  return hasCode(error, 'DRIVER_ERROR') && error.details.reason === 'license';
}

/**
 * Places a boot entry for the ISO at the site. Entry and ISO are of the site's desired state before the operation is handed out; the
 * ISO stays pinned in the site's cache until `media.eject` or the workflow's end.
 */
async function bootIsoInstead(run: StepRun, image: Row<'images'>): Promise<StepResult> {
  const { central, workflow, closing } = run;
  try {
    const makeInput = async () => ({ entry: await desiredIsoEntry(run, image) });
    const noting = noteGiven(run, image, 'mounted');
    return await relay(run, 'media.insert', makeInput, undefined, { noting });
  } catch (error) {
    if (!closing.aborted)
      await underClaim(central.store, workflow, async (queries) => {
        await dropIsoEntry(queries, workflow.node_id);
        await unpinImages(queries, workflow.workflow_id);
      });
    throw error;
  }
}

/** The entry, signed. An image that no site may cache is refused here. */
async function desiredIsoEntry(run: StepRun, image: Row<'images'>): Promise<string> {
  const { store, images, keys } = run.central;
  await verifyImageForUse(store, image, { verifier: images.verifier });
  const iso = { ref: image.ref, digest: image.sha256 };
  const entry: IsoEntry = { ...(await boundEntry(run, await nodeOf(run))), iso };
  const signed = await signDocument('railhead-boot-entry', entry, keys.signing);
  await underClaim(store, run.workflow, async (queries) => {
    await desireEntry(queries, entry, signed, image.image_id);
    const pin = { siteId: entry.siteId, imageId: image.image_id, pinFor: run.workflow.workflow_id };
    await touchImageLocation(queries, pin);
  });
  return signed;
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
