import { createHash, type KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { openText } from '#base/jwe.ts';
import { RailheadError } from '#contract/errors.ts';
import type { DeployImage } from '#contract/operations.ts';
import { withMounted } from './mounted.ts';
import { type ProbedVolume, probeVolume, type Volume } from './volumes.ts';

type UserData = NonNullable<DeployImage['userData']>;

/** Where a first-boot document goes: a partition and the folder on it. */
export interface SeedPlace<Where> {
  partition: Where;
  folder: string;
}

/** What is put into an image before its disk can boot. */
export interface Seed {
  /**
   * Asked before the disk is touched.
   * @throws RailheadError UNSUPPORTED (`reason` no-seed-partition) when an image with these partitions certainly has no place for it
   */
  check(volumes: readonly Volume[]): void;
  /**
   * Puts it on the disk, whose sector 0 is not written yet.
   * @throws RailheadError UNSUPPORTED (`reason` no-seed-partition) when no partition turns out to be a place for it
   */
  install(disk: string, volumes: readonly Volume[]): Promise<void>;
}

/**
 * Where the written OS looks for its first-boot document: at the root of a FAT partition labelled `cidata`, as cloud-init's
 * NoCloud data source reads it, else in the folder `railhead` of the EFI system partition.
 */
export function seedPlace<Where extends Pick<ProbedVolume, 'isEsp' | 'fileSystem' | 'label'>>(
  partitions: readonly Where[],
): SeedPlace<Where> | undefined {
  const cidata = cidataPlace(partitions);
  if (cidata !== undefined) return cidata;
  const esp = partitions.find(({ fileSystem, isEsp }) => fileSystem === 'vfat' && isEsp);
  return esp === undefined ? undefined : { partition: esp, folder: 'railhead' };
}

/** The root of a FAT partition labelled `cidata`. */
export function cidataPlace<Where extends Pick<ProbedVolume, 'fileSystem' | 'label'>>(
  partitions: readonly Where[],
): SeedPlace<Where> | undefined {
  const isCidata = ({ fileSystem, label }: Where) =>
    fileSystem === 'vfat' && label?.toLowerCase() === 'cidata';
  const cidata = partitions.find(isCidata);
  return cidata === undefined ? undefined : { partition: cidata, folder: '' };
}

/** How the document that an operation refers to is had: the site is asked, and the answer opened by the key of this boot. */
export interface UserDataParts {
  sealing: KeyObject;
  secret(ref: string): Promise<string>;
}

/**
 * The first-boot document that was sealed to this machine; to be opened before the disk is touched.
 * @throws RailheadError INVALID_STATE (`reason` sealed) when what the site gave is not what the centre meant, or was sealed to another key
 */
export async function openUserData(
  { ref, sha256 }: Pick<UserData, 'ref' | 'sha256'>,
  { sealing, secret }: UserDataParts,
): Promise<string> {
  const sealed = await secret(ref);
  // The operation is signed by the centre, so that a site cannot put a document of its own in the place of the centre's.
  if (createHash('sha256').update(sealed).digest('hex') !== sha256)
    throw notSealed('the user data that the site gave is not what the centre sealed');
  return await openText('railhead-user-data', sealed, sealing).catch((cause: unknown) => {
    throw notSealed('the user data is not sealed to the key of this boot', cause);
  });
}

/** The files of a NoCloud data source. */
export interface SeedFiles {
  /** The first-boot document. */
  userData: string;
  /** What the ramdisk itself leaves for the OS, a script that runs before the document's commands. */
  vendorData: string;
  /** New with each deploy: cloud-init runs a first boot when it changes. */
  instanceId: string;
}

/** A seed of the files `user-data`, `vendor-data` and `meta-data`. */
export function seedOf(files: SeedFiles): Seed {
  return seedAt(seedPlace, noCloudFiles(files), noPlace);
}

export function noCloudFiles({ userData, vendorData, instanceId }: SeedFiles): Record<string, string> {
  return {
    'user-data': userData,
    'vendor-data': vendorData,
    'meta-data': `instance-id: ${instanceId}\n`,
  };
}

/** A seed of `files`, where `findPlace` says. */
export function seedAt(
  findPlace: (partitions: readonly ProbedVolume[]) => SeedPlace<ProbedVolume> | undefined,
  files: Readonly<Record<string, string>>,
  refusal: () => RailheadError,
): Seed {
  return {
    check: (volumes) => {
      if (volumes.length === 0) throw refusal();
    },
    install: async (disk, volumes) => {
      const place = findPlace(await Promise.all(volumes.map((volume) => probeVolume(disk, volume))));
      if (place === undefined) throw refusal();
      const { offset, sizeBytes, fileSystem = 'vfat' } = place.partition;
      const write = (root: string) => writeSeed(path.join(root, place.folder), files);
      await withMounted(disk, fileSystem, write, ['-o', `loop,offset=${offset},sizelimit=${sizeBytes}`]);
    },
  };
}

function noPlace(): RailheadError {
  return new RailheadError(
    'UNSUPPORTED',
    'the image has no place for user data: give it a FAT partition labelled cidata or an EFI system partition',
    { path: 'userData', reason: 'no-seed-partition' },
  );
}

/** What is there already is replaced. */
export async function writeSeed(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeDurably(path.join(directory, name), text);
}

function notSealed(what: string, cause?: unknown): RailheadError {
  const details = { path: 'userData', reason: 'sealed' };
  return new RailheadError('INVALID_STATE', `${what}: deploy again`, details, cause);
}
