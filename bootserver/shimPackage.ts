import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { download, unpack } from '#base/debian.ts';
import { writeDurably } from '#base/durableFile.ts';
import { inWorkFolder } from '#base/workFolder.ts';
import { shimFiles } from '#grub/debianPackages.ts';
import type { IpxeManifest } from '#ipxe/debianPackage.ts';
import { type FetchIpxeOptions, readManifest, writeManifest } from './ipxePackage.ts';

export interface FetchShimOptions extends FetchIpxeOptions {
  /** Debian's names of the machines' architectures. */
  architectures: readonly (keyof typeof shimFiles)[];
}

/** Fetches shim and GRUB unless they are there. */
export async function ensureShim(options: FetchShimOptions): Promise<IpxeManifest> {
  return (await readManifest(options.directory)) ?? fetchShim(options);
}

/**
 * Brings shim and GRUB of Debian's packages, whose signatures apt has checked, into a folder. Each file is replaced whole, the manifest last.
 * @throws CommandFailed with apt's words
 */
export async function fetchShim(options: FetchShimOptions): Promise<IpxeManifest> {
  await mkdir(options.directory, { recursive: true });
  const manifest: IpxeManifest = { version: '', files: {} };
  const versions: string[] = [];
  for (const architecture of options.architectures) {
    const found = await fetchArchitecture(architecture, options);
    Object.assign(manifest.files, found.files);
    versions.push(...found.versions.filter((version) => !versions.includes(version)));
  }
  manifest.version = versions.join(', ');
  await writeManifest(options.directory, manifest);
  return manifest;
}

async function fetchArchitecture(
  architecture: keyof typeof shimFiles,
  { directory, cacheDirectory, refresh = false, progress }: FetchShimOptions,
): Promise<{ versions: string[]; files: Record<string, string> }> {
  const wanted = shimFiles[architecture];
  const packages = wanted.map((file) => file.package);
  const found = await download({
    ...{ cacheDirectory, architecture, packages, refresh },
    ...(progress && { progress }),
  });
  return inWorkFolder(directory, async (unpacked) => {
    for (const { file } of found) await unpack(file, unpacked);
    const files: Record<string, string> = {};
    for (const file of wanted)
      files[file.name] = await copyFile(path.join(unpacked, file.path), directory, file.name);
    return { versions: found.map(({ name, version }) => `${name} ${version}`), files };
  });
}

async function copyFile(source: string, directory: string, name: string): Promise<string> {
  const content = await readFile(source);
  await writeDurably(path.join(directory, name), content);
  return createHash('sha256').update(content).digest('hex');
}
