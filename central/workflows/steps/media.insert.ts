import { RailheadError } from '#contract/errors.ts';
import type { OperationInput } from '#contract/operations.ts';
import type { StepInput } from '#contract/steps.ts';
import { resolveImage } from '../../images/resolve.ts';
import { deployUse, verifyImageForUse } from '../../images/verify.ts';
import { relay } from '../relay.ts';
import { resultOf } from '../results.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/**
 * Mounts an ISO as virtual media: by its URL, by the `url` that an earlier step of this workflow returned, or one of the catalog.
 * @throws RailheadError INVALID_INPUT for an image that is no iso or whose source is not https, INVALID_STATE for one that does
 *   not verify, INVALID_CONFIG when the earlier step returned no https URL
 */
export function insertMedia(run: StepRun, input: StepInput<'media.insert'>): Promise<StepResult> {
  return relay(run, 'media.insert', () => medium(run, input));
}

async function medium(
  run: StepRun,
  { url, fromStep, image }: StepInput<'media.insert'>,
): Promise<OperationInput<'media.insert'>> {
  if (url !== undefined) return { url };
  if (image !== undefined) return catalogIso(run, image);
  return { url: await urlOfStep(run, fromStep ?? '') };
}

async function catalogIso(run: StepRun, ref: string): Promise<OperationInput<'media.insert'>> {
  const { store, images } = run.central;
  const image = await resolveImage(store, run.workflow.tenant_id, ref);
  if (image.format !== 'iso') throw unusable(ref, `is ${image.format}: it goes through deploy.deploy`);
  if (!image.source.startsWith('https://')) throw unusable(ref, 'has no https source that a BMC could mount');
  await verifyImageForUse(store, image, deployUse(images, run.workflow.tenant_id));
  return { url: image.source, image: { ref, digest: image.sha256 } };
}

async function urlOfStep(run: StepRun, use: string): Promise<string> {
  const { url } = (await resultOf<{ url?: unknown }>(run, use)) ?? {};
  if (typeof url === 'string' && url.startsWith('https://')) return url;
  const message = `the step ${use} has returned no https url to mount`;
  throw new RailheadError('INVALID_CONFIG', message, { path: 'fromStep', reason: 'no-url' });
}

function unusable(ref: string, why: string): RailheadError {
  return new RailheadError('INVALID_INPUT', `image ${ref} ${why}`, { path: 'image', ref });
}
