import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { RailheadError } from '#contract/errors.ts';
import type { DeployImage } from '#contract/operations.ts';
import { withMounted } from './mounted.ts';
import type { Partition } from './partitions.ts';

type UserData = NonNullable<DeployImage['userData']>;

/** Where a first-boot document goes: a partition and the folder on it. */
export interface SeedPlace {
  partition: Partition;
  folder: string;
}

/**
 * Where the written OS looks for its first-boot document: at the root of a FAT partition labelled `cidata`, as cloud-init's
 * NoCloud data source reads it, else in the folder `railhead` of the EFI system partition.
 */
export function seedPlace(partitions: readonly Partition[]): SeedPlace | undefined {
  const fat = partitions.filter(({ fileSystem }) => fileSystem === 'vfat');
  const cidata = fat.find(({ label }) => label?.toLowerCase() === 'cidata');
  if (cidata !== undefined) return { partition: cidata, folder: '' };
  const esp = fat.find(({ isEsp }) => isEsp);
  return esp === undefined ? undefined : { partition: esp, folder: 'railhead' };
}

/** @throws RailheadError UNSUPPORTED for a kind of document that is not installed yet; to be asked before the disk is touched */
export function checkUserData(userData: UserData | undefined): void {
  if (userData === undefined || userData.kind === 'cloud-init') return;
  throw new RailheadError(
    'UNSUPPORTED',
    `user data of kind ${userData.kind} cannot be installed yet: use cloud-init`,
    { path: 'userData.kind' },
  );
}

/**
 * Writes `user-data` and `meta-data` to the written disk. `instanceId` is new with each deploy: cloud-init runs a first boot when it changes.
 * @throws RailheadError UNSUPPORTED when the image has no place for them
 */
export async function installUserData(
  partitions: readonly Partition[],
  userData: UserData,
  instanceId: string,
): Promise<void> {
  const place = seedPlace(partitions);
  if (place === undefined)
    throw new RailheadError(
      'UNSUPPORTED',
      'the image has no place for user data: give it a FAT partition labelled cidata or an EFI system partition',
      { path: 'userData', reason: 'no-seed-partition' },
    );
  await withMounted(place.partition.path, 'vfat', (root) =>
    writeSeed(path.join(root, place.folder), userData.document, instanceId),
  );
}

/** The two files of a NoCloud seed; what is there already is replaced. */
export async function writeSeed(directory: string, document: string, instanceId: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeDurably(path.join(directory, 'user-data'), document);
  await writeDurably(path.join(directory, 'meta-data'), `instance-id: ${instanceId}\n`);
}
