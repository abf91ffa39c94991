import { signDocument } from '#base/jws.ts';
import type { IsoEntry } from '#contract/bootEntry.ts';
import type { OperationInput } from '#contract/operations.ts';
import { desireEntry, dropIsoEntry } from '../bootEntries.ts';
import { dropMedium, dropUnmounted, holdMedium, noteMounted } from '../cachedMedia.ts';
import { verifyImageForUse } from '../images/verify.ts';
import { touchImageLocation, unpinImages } from '../siteCaches/locations.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';
import { boundEntry, nodeOf } from './boundEntry.ts';
import { underClaim } from './claims.ts';
import { relay } from './relay.ts';
import type { StepResult, StepRun } from './stepRun.ts';
import { noteGiven } from './withdrawn.ts';

/**
 * Has the machine's BMC mount an ISO by the URL of its site's cache. The ISO is of the site's desired state before the operation is handed
 * out, and as long as it is mounted.
 */
export async function mountFromCache(run: StepRun, image: Row<'images'>): Promise<StepResult> {
  const { store, images } = run.central;
  const { workflow } = run;
  const mounted = await insertHeld(run, image, async () => {
    await verifyImageForUse(store, image, { verifier: images.verifier });
    await underClaim(store, workflow, async (queries) => {
      await dropIsoEntry(queries, workflow.node_id);
      const place = { nodeId: workflow.node_id, siteId: workflow.site_id, imageId: image.image_id };
      await holdMedium(queries, place);
      await pin(run, queries, image);
    });
    return { cached: { ref: image.ref, digest: image.sha256 } };
  });
  await underClaim(store, workflow, (queries) => noteMounted(queries, workflow.node_id, image.image_id));
  return mounted;
}

/**
 * Places a boot entry for the ISO at the site. Entry and ISO are of the site's desired state before the operation is handed out; the
 * ISO stays pinned in the site's cache until `media.eject` or the workflow's end.
 */
export function bootFromCache(run: StepRun, image: Row<'images'>): Promise<StepResult> {
  return insertHeld(run, image, async () => ({ entry: await desiredIsoEntry(run, image) }));
}

/** What fails leaves nothing more desired: what the BMC reads from before it still reads. */
async function insertHeld(
  run: StepRun,
  image: Row<'images'>,
  makeInput: () => Promise<OperationInput<'media.insert'>>,
): Promise<StepResult> {
  const { central, workflow, closing } = run;
  try {
    const noting = noteGiven(run, image, 'mounted');
    return await relay(run, 'media.insert', makeInput, undefined, { noting });
  } catch (error) {
    if (!closing.aborted)
      await underClaim(central.store, workflow, async (queries) => {
        await dropIsoEntry(queries, workflow.node_id);
        await dropUnmounted(queries, workflow.node_id);
        await unpinImages(queries, workflow.workflow_id);
      });
    throw error;
  }
}

/** The machine has no ISO from its site any more: neither its BMC nor, by a boot entry, its firmware. */
export async function dropIsoAtSite(
  queries: Queries,
  { node_id, workflow_id }: Pick<Row<'workflows'>, 'node_id' | 'workflow_id'>,
): Promise<void> {
  await dropIsoEntry(queries, node_id);
  await dropMedium(queries, node_id);
  await unpinImages(queries, workflow_id);
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
    await pin(run, queries, image);
  });
  return signed;
}

function pin({ workflow }: StepRun, queries: Queries, { image_id: imageId }: Row<'images'>): Promise<void> {
  return touchImageLocation(queries, { siteId: workflow.site_id, imageId, pinFor: workflow.workflow_id });
}
