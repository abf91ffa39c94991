import { createHash } from 'node:crypto';
import { sealText } from '#base/jwe.ts';
import { publicKeyFromJwk } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import type { DeployImage, SealedSecret } from '#contract/operations.ts';
import type { Profile } from '#contract/profiles.ts';
import type { DiskHints, StepInput } from '#contract/steps.ts';
import { noteDeployed } from '../../images/deployments.ts';
import { resolveImage } from '../../images/resolve.ts';
import { deployUse, verifyImageForUse } from '../../images/verify.ts';
import { touchImageLocation, unpinImages } from '../../siteCaches/locations.ts';
import { parseJson, type Queries } from '../../store/store.ts';
import type { Row } from '../../store/tables.ts';
import { underClaim } from '../claims.ts';
import type { PlannedStep } from '../plan.ts';
import { ramdiskAddressee } from '../ramdisk.ts';
import { stepsOf } from '../records.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';
import { noteGiven } from '../withdrawn.ts';

/**
 * Has the ramdisk write the image, resolved in the machine owner's tenant and verified right before, to the disk meant.
 * @throws RailheadError INVALID_INPUT for an iso, INVALID_STATE for an image that does not verify, INVALID_CONFIG for
 *   user data that no step rendered, DRIVER_ERROR when the ramdisk wrote another digest than the catalog's
 */
export async function deploy(run: StepRun, input: StepInput<'deploy.deploy'>): Promise<StepResult> {
  const image = await deployableImage(run, input.image);
  const ramdisk = await ramdiskAddressee(run);
  const secrets: SealedSecret[] = [];
  const makeInput = () => deployImage(run, image, input, { joinId: ramdisk.joinId, secrets });
  const noting = noteStreaming(run, image);
  const result = await streaming(run, () =>
    relay(run, 'deploy.image', makeInput, ramdisk, { secrets, noting }),
  );
  if (result.digest !== image.sha256)
    throw new RailheadError(
      'DRIVER_ERROR',
      'the ramdisk wrote other bytes than the catalog names: do not boot this disk',
      {
        reason: 'digest-mismatch',
        expected: image.sha256,
        found: result.digest,
      },
    );
  const { central, workflow } = run;
  const place = { nodeId: workflow.node_id, workflowId: workflow.workflow_id };
  await underClaim(central.store, workflow, (queries) => noteDeployed(queries, place, image.sha256));
  return result;
}

/** Runs `work`, which streams an image to the machine's disk. The pin in the site's cache stays when the centre stops: the write goes on. */
async function streaming(run: StepRun, work: () => Promise<StepResult>): Promise<StepResult> {
  try {
    return await work();
  } finally {
    const { central, workflow } = run;
    if (!run.closing.aborted)
      await underClaim(central.store, workflow, (queries) => unpinImages(queries, workflow.workflow_id));
  }
}

async function deployableImage(run: StepRun, refOfStep: string | undefined): Promise<Row<'images'>> {
  const { central, workflow, profile } = run;
  const ref = refOfStep ?? profile.image?.ref;
  if (ref === undefined)
    throw new RailheadError('INVALID_CONFIG', 'neither the step nor the profile names an image', {
      path: 'image',
    });
  const image = await resolveImage(central.store, workflow.tenant_id, ref);
  if (image.format === 'iso' || encodingOf(image, profile).format === 'iso')
    throw new RailheadError('INVALID_INPUT', `image ${ref} is an iso: it goes through media.insert`, {
      path: 'image',
    });
  return image;
}

/** How an artifact is written down: as its catalog says, unless it is the profile's own image and the profile says otherwise. */
function encodingOf(image: Row<'images'>, profile: Profile): Pick<DeployImage, 'format' | 'compression'> {
  const own = profile.image?.ref === image.ref ? profile.image : undefined;
  return { format: own?.format ?? image.format, compression: own?.compression ?? image.compression };
}

/** The ramdisk that the operation is for, and what is sealed to it on the way. */
interface Addressee {
  joinId: string;
  secrets: SealedSecret[];
}

async function deployImage(
  run: StepRun,
  image: Row<'images'>,
  input: StepInput<'deploy.deploy'>,
  machine: Addressee,
): Promise<DeployImage> {
  const { central, workflow } = run;
  await verifyImageForUse(central.store, image, deployUse(central.images, workflow.tenant_id));
  const disk = parseJson<DiskHints>(run.workflow.disk) ?? input.disk;
  const userData = await userDataFor(run, machine);
  return {
    ref: image.ref,
    digest: image.sha256,
    ...(image.size_bytes === null ? {} : { sizeBytes: image.size_bytes }),
    ...encodingOf(image, run.profile),
    sources: [image.source],
    ...(disk === undefined ? {} : { disk }),
    ...(userData === undefined ? {} : { userData }),
  };
}

/** With the operation: what may be on the machine's disk from now on, and that the site's copy is in use. */
function noteStreaming(run: StepRun, image: Row<'images'>): (queries: Queries) => Promise<void> {
  const { site_id: siteId, workflow_id: pinFor } = run.workflow;
  const noteWriting = noteGiven(run, image, 'writing');
  return async (queries) => {
    await noteWriting(queries);
    await touchImageLocation(queries, { siteId, imageId: image.image_id, pinFor });
  };
}

/**
 * The reference to the profile's user data, by which the ramdisk asks for it; undefined for a profile without. The document itself,
 * sealed to the ramdisk of that join, goes to `secrets`.
 */
async function userDataFor(run: StepRun, { joinId, secrets }: Addressee): Promise<DeployImage['userData']> {
  const { central, profile } = run;
  if (profile.userData === undefined) return undefined;
  const { ref, document } = await renderedUserData(run);
  const join = await central.store
    .selectFrom('node_joins')
    .select('sealing_key')
    .where('join_id', '=', joinId)
    .executeTakeFirstOrThrow();
  const sealed = await sealFor(join.sealing_key, document);
  secrets.push({ ref, sealed });
  return { kind: profile.userData.kind, ref, sha256: createHash('sha256').update(sealed).digest('hex') };
}

/** @throws RailheadError INVALID_STATE when the key that the ramdisk joined with is none to seal to */
async function sealFor(sealingKey: string | null, document: string): Promise<string> {
  try {
    return await sealText('railhead-user-data', document, publicKeyFromJwk(JSON.parse(sealingKey ?? '{}')));
  } catch (cause) {
    const message = "user data cannot be sealed to the ramdisk's key, which is no X25519 key";
    throw new RailheadError('INVALID_STATE', message, { reason: 'sealing-key' }, cause);
  }
}

/** What this workflow's `userdata.render` kept. */
async function renderedUserData({ central, workflow }: StepRun): Promise<{ ref: string; document: string }> {
  const steps = await stepsOf(central.store, workflow.workflow_id);
  const rendered = steps.findLast(
    (step) => step.state === 'succeeded' && (JSON.parse(step.step) as PlannedStep).use === 'userdata.render',
  );
  const { userDataRef } = parseJson<{ userDataRef?: string }>(rendered?.result ?? null) ?? {};
  if (userDataRef === undefined)
    throw new RailheadError('INVALID_CONFIG', 'put a userdata.render step before deploy.deploy', {
      path: 'steps',
    });
  const secret = await central.store
    .selectFrom('secrets')
    .select('sealed')
    .where('ref', '=', userDataRef)
    .executeTakeFirstOrThrow();
  return { ref: userDataRef, document: central.sealer.open(secret.sealed) };
}
