import { hasCode, RailheadError } from '#contract/errors.ts';
import type { DeployImage, DeployResult } from '#contract/operations.ts';
import { setEfiEntry } from '../boot/efiEntry.ts';
import { efiLoaderOf, findDiskLoader } from '../boot/loader.ts';
import { chooseDisk } from '../disks/choose.ts';
import type { Disk } from '../disks/disk.ts';
import { settledDisks } from '../disks/settled.ts';
import { listDisks } from '../disks/sysfs.ts';
import { openTarget, type Target } from '../disks/target.ts';
import { ignitionSeed } from '../seed/ignition.ts';
import { listPartitions } from '../seed/partitions.ts';
import { talosSeed } from '../seed/talos.ts';
import { openUserData, type Seed, seedOf } from '../seed/userData.ts';
import { hostVendorData } from '../seed/vendorData.ts';
import { type Artifact, openArtifact, type Place } from '../stream/source.ts';
import { type Written, writeImage } from '../stream/writeImage.ts';
import type { Step, StepContext, StepOutcome } from './index.ts';

/** Bytes that arrived wrong are fetched once more from the start; a second time the fault is not the network's. */
const tries = 2;
const retried = ['digest-mismatch', 'truncated', 'damaged'];

/**
 * Writes the image with its first-boot document to the one disk that is meant, and sets the EFI boot entry. What can be refused is
 * refused before a byte of the disk is changed; `boot.kexec` starts what was written.
 */
export const deployImage: Step<'deploy.image'> = (input, context) => deployTo(listDisks, input, context);

/** The same on the disks that `disksNow` tells of; it is asked again right before the disk is opened. */
export async function deployTo(
  disksNow: () => Promise<Disk[]>,
  input: DeployImage,
  context: StepContext,
): Promise<StepOutcome> {
  const begun = performance.now();
  checkSupported(input);
  const seed = await seedFor(input, context);
  const least = input.compression === 'none' ? input.sizeBytes : undefined;
  chooseDisk(await settledDisks(disksNow, { signal: context.signal }), input.disk, least);
  const { disk, written, from } = await writeWithRetry(disksNow, input, context, seed);
  context.progress('installing', written.artifactBytes, written.artifactBytes);
  const boot = await prepareBoot(disk);
  const result: DeployResult = {
    digest: input.digest,
    device: disk.path,
    artifactBytes: written.artifactBytes,
    diskBytes: written.imageBytes,
    source: from,
    seconds: Math.round((performance.now() - begun) / 10) / 100,
    ...boot,
  };
  return { result: { ...result } };
}

function checkSupported(input: DeployImage): void {
  if (input.format !== 'raw')
    throw new RailheadError(
      'UNSUPPORTED',
      `an image of format ${input.format} cannot be written to a disk yet: convert it to raw, compressed with zstd`,
      { path: 'format' },
    );
}

interface Deployed {
  disk: Disk;
  written: Written;
  from: Place['kind'];
}

async function writeWithRetry(
  disksNow: () => Promise<Disk[]>,
  input: DeployImage,
  context: StepContext,
  seed: Seed | undefined,
): Promise<Deployed> {
  for (let tried = 1; ; tried++) {
    const artifact = artifactOf(input, context);
    try {
      return await writeOnce(artifact, disksNow, input, context, seed);
    } catch (error) {
      // A site whose own pull brought wrong bytes has sent none: it is not asked again.
      const arrived = artifact.state.receivedBytes > 0;
      const wrong = hasCode(error, 'DRIVER_ERROR') && retried.includes(error.details.reason ?? '');
      if (!arrived || !wrong || tried === tries) throw error;
      context.say(`${error.message}; reading it again`);
    }
  }
}

function artifactOf(input: DeployImage, context: StepContext): Artifact {
  const { progress, signal, say } = context;
  let said = '';
  const artifact = openArtifact({
    places: placesOf(input, context),
    sizeBytes: input.sizeBytes,
    deadline: context.deadline,
    ca: context.ca,
    signal,
    onWait: (why, kind) => {
      if (why !== said) say(`waiting for the image: ${why}`);
      said = why;
      progress(
        `waiting for the ${kind === 'site' ? "site's cache" : 'source'}`,
        artifact.state.receivedBytes,
      );
    },
  });
  return artifact;
}

async function writeOnce(
  artifact: Artifact,
  disksNow: () => Promise<Disk[]>,
  input: DeployImage,
  { progress, signal, say }: StepContext,
  seed: Seed | undefined,
): Promise<Deployed> {
  let opened: { disk: Disk; target: Target } | undefined;
  const openDisk = async (neededBytes: number): Promise<Target> => {
    const disk = chooseDisk(await disksNow(), input.disk, neededBytes);
    opened = { disk, target: await openTarget(disk.path) };
    say(`writing ${input.ref} to ${disk.path}`);
    return opened.target;
  };
  try {
    const written = await writeImage({
      image: input,
      artifact,
      openDisk,
      seed,
      progress,
      signal,
    });
    return { disk: opened?.disk as Disk, written, from: artifact.state.from };
  } finally {
    await opened?.target.close();
  }
}

function placesOf({ digest, sources }: DeployImage, { siteImage }: StepContext): Place[] {
  const site: Place = { kind: 'site', url: "the site's cache", locate: () => siteImage(digest) };
  // Registries are the site's to speak to: it holds the credentials and a cache.
  const direct = sources.filter((url) => !url.startsWith('oci:'));
  return [site, ...direct.map((url): Place => ({ kind: 'origin', url }))];
}

async function seedFor(
  { userData }: DeployImage,
  { nodeId, operationId, sealing, secret, centre }: StepContext,
): Promise<Seed | undefined> {
  if (userData === undefined) return undefined;
  const document = await openUserData(userData, { sealing, secret });
  if (userData.kind === 'ignition') return ignitionSeed(document, centre);
  const instanceId = `${nodeId}-${operationId}`;
  if (userData.kind === 'talos') return talosSeed(document, instanceId);
  return seedOf({ userData: document, vendorData: hostVendorData(centre), instanceId });
}

/** The written disk's boot entry; the machine boots it without one too, by the firmware's own order. */
async function prepareBoot(disk: Disk): Promise<Pick<DeployResult, 'bootEntry' | 'efiLoader' | 'notes'>> {
  const loader = await findDiskLoader(await listPartitions(disk.name));
  const entry = await setEfiEntry(disk.path, loader);
  const efiLoader = efiLoaderOf(loader);
  return {
    ...(efiLoader && { efiLoader }),
    ...(entry && 'note' in entry ? { notes: [entry.note] } : entry),
  };
}
