import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { download, unpack } from '#base/debian.ts';
import { writeDurably } from '#base/durableFile.ts';
import { isENOENT } from '#base/errors.ts';
import { inWorkFolder } from '#base/workFolder.ts';
import { type IpxeManifest, ipxePackage } from '#ipxe/debianPackage.ts';

export interface FetchIpxeOptions {
  /** Where the binaries go. */
  directory: string;
  /** Where Debian packages are kept. */
  cacheDirectory: string;
  /** Ask the archive for a newer package. */
  refresh?: boolean;
  progress?: (line: string) => void;
}

const manifestFile = 'manifest.json';

/** Fetches the iPXE binaries unless they are there. */
export async function ensureIpxe(options: FetchIpxeOptions): Promise<IpxeManifest> {
  return (await readManifest(options.directory)) ?? fetchIpxe(options);
}

/**
 * Brings the iPXE binaries of Debian's package, whose signature apt has checked, into a folder. Each file is replaced
 * whole, the manifest last.
 * @throws CommandFailed with apt's words
 */
export async function fetchIpxe(options: FetchIpxeOptions): Promise<IpxeManifest> {
  const { directory, cacheDirectory, refresh = false, progress } = options;
  const { name, suite } = ipxePackage;
  const [found] = await download({
    cacheDirectory,
    suite,
    packages: [name],
    refresh,
    ...(progress && { progress }),
  });
  if (found === undefined) throw new Error(`${suite} has no package ${name}`);
  const files = await inWorkFolder(directory, async (unpacked) => {
    await unpack(found.file, unpacked);
    return copyBinaries(unpacked, directory);
  });
  const manifest = { version: found.version, files };
  await writeManifest(directory, manifest);
  return manifest;
}

export function writeManifest(directory: string, manifest: IpxeManifest): Promise<void> {
  return writeDurably(path.join(directory, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** What a folder's manifest says; undefined when nothing was fetched into it. */
export async function readManifest(directory: string): Promise<IpxeManifest | undefined> {
  try {
    return JSON.parse(await readFile(path.join(directory, manifestFile), 'utf8')) as IpxeManifest;
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}

async function copyBinaries(unpacked: string, directory: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const name of ipxePackage.files) {
    const content = await readFile(path.join(unpacked, ipxePackage.folder, name));
    await writeDurably(path.join(directory, name), content);
    digests[name] = createHash('sha256').update(content).digest('hex');
  }
  return digests;
}
