import { RailheadError } from '#contract/errors.ts';
import type { PinnedCentre } from '../join/trust.ts';
import { type Seed, type SeedPlace, seedAt } from './userData.ts';
import { centreFiles } from './vendorData.ts';
import type { ProbedVolume } from './volumes.ts';

/** File systems that the ramdisk can write. */
const writable = ['ext4', 'vfat'];

/**
 * Where an OS looks for an Ignition document on its own disk: `ignition/config.ign` on the partition labelled `boot`, where
 * coreos-installer puts it (Fedora CoreOS), else `config.ign` on the one labelled `OEM` (Flatcar).
 */
export function ignitionPlace<Where extends Pick<ProbedVolume, 'fileSystem' | 'label'>>(
  partitions: readonly Where[],
): SeedPlace<Where> | undefined {
  const labelled = (name: string) =>
    partitions.find(({ label, fileSystem = '' }) => label === name && writable.includes(fileSystem));
  const boot = labelled('boot');
  if (boot !== undefined) return { partition: boot, folder: 'ignition' };
  const oem = labelled('OEM');
  return oem === undefined ? undefined : { partition: oem, folder: '' };
}

/** The document, and in it what this ramdisk knows of the centre. */
export function ignitionSeed(document: string, centre: PinnedCentre): Seed {
  return seedAt(ignitionPlace, { 'config.ign': withCentreFiles(document, centre) }, () => {
    const message = 'the image has no place for an Ignition document: an ext4 partition labelled boot or OEM';
    return new RailheadError('UNSUPPORTED', message, { path: 'userData', reason: 'no-seed-partition' });
  });
}

interface IgnitionDocument {
  storage?: { files?: { path: string; [field: string]: unknown }[]; [field: string]: unknown };
  [field: string]: unknown;
}

/** Adds `/etc/bcd/config.toml` and `/etc/bcd/join-encryption.jwk`, unless the document has files of its own there. */
export function withCentreFiles(text: string, centre: PinnedCentre): string {
  const document = JSON.parse(text) as IgnitionDocument;
  const files = document.storage?.files ?? [];
  const own = new Set(files.map((file) => file.path));
  const added = Object.entries(centreFiles(centre))
    .filter(([path]) => !own.has(path))
    .map(([path, content]) => ({
      path,
      mode: 0o644,
      contents: { source: `data:,${encodeURIComponent(`${content}\n`)}` },
    }));
  const storage = { ...document.storage, files: [...files, ...added] };
  return `${JSON.stringify({ ...document, storage }, null, 2)}\n`;
}
