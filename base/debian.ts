import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from './command.ts';
import { Apt, type Architecture } from './debian/apt.ts';
import { closureOf } from './debian/closure.ts';
import { hostSuite } from './debian/mirror.ts';
import { debFileName, dependencyMatching, type PackageRecord, parseRecords } from './debian/packages.ts';
import { inWorkFolder } from './workFolder.ts';

export interface DebianOptions {
  /** Where index and packages are kept, e.g. `.cache/debian`; each suite and architecture has a folder of its own. */
  cacheDirectory: string;
  /** `trixie` unless named; `host` is the suite of the machine this runs on. */
  suite?: 'trixie' | 'host';
  architecture?: Architecture;
  /** `main` unless named. */
  components?: readonly string[];
  /** Fetch the package index anew, so that newer versions are found. */
  refresh?: boolean;
  progress?: (line: string) => void;
}

export interface DownloadOptions extends DebianOptions {
  /** Names, or `name=version`. */
  packages: readonly string[];
  /** Bring what the packages depend on as well (not what they recommend). */
  withDependencies?: boolean;
}

export interface DebianPackage {
  name: string;
  version: string;
  architecture: string;
  sha256: string;
  /** The `.deb` in the cache, its digest checked against the signed index. */
  file: string;
}

/**
 * Packages of one fixed Debian suite whatever the host runs, verified by apt against the archive's signature, sorted by
 * name. Nothing is fetched twice; the index is fetched only when it is missing, when `refresh` is given, or when it names
 * what the mirror no longer has. Installs nothing.
 * @throws CommandFailed with apt's words, Error when the host lacks the archive's keyring
 */
export async function download(options: DownloadOptions): Promise<DebianPackage[]> {
  const apt = await openApt(options);
  try {
    return await downloadOnce(apt, options);
  } catch (error) {
    if (options.refresh === true) throw error;
    options.progress?.(`reading the package index of ${apt.settings.suite} again`);
    await apt.update({ refresh: true });
    return await downloadOnce(apt, options);
  }
}

/** Unpacks a package's files into `directory` without running any of its scripts. */
export async function unpack(file: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await run('dpkg-deb', ['-x', file, directory]);
}

/**
 * The real package behind a metapackage, e.g. of `linux-image-amd64` the newest `linux-image-6.12…-amd64`.
 * @throws Error when none of its dependencies matches
 */
export async function realPackage(
  metapackage: string,
  name: RegExp,
  options: DebianOptions,
): Promise<string> {
  const apt = await openApt(options);
  const [record] = await recordsOf(apt, [metapackage]);
  const real = record && dependencyMatching(record.depends, name);
  if (real === undefined)
    throw new Error(`${metapackage} of ${apt.settings.suite} depends on nothing like ${name}`);
  return real;
}

async function openApt(options: DebianOptions): Promise<Apt> {
  const { architecture = 'amd64', components = ['main'] } = options;
  const suite = options.suite === 'host' ? ((await hostSuite()) ?? 'trixie') : 'trixie';
  const folder = [suite, architecture, ...components].join('-');
  const directory = path.resolve(options.cacheDirectory, folder);
  await mkdir(path.join(directory, 'debs'), { recursive: true });
  const apt = new Apt({ directory, suite, architecture, components });
  if (options.refresh === true) options.progress?.(`reading the package index of ${suite}`);
  await apt.update({ refresh: options.refresh ?? false });
  return apt;
}

async function downloadOnce(apt: Apt, options: DownloadOptions): Promise<DebianPackage[]> {
  const wanted = options.withDependencies ? await closureOf(apt, options.packages) : options.packages;
  const found = await recordsOf(apt, wanted);
  const packages = found
    .map((record) => ({ record, file: path.join(apt.settings.directory, 'debs', debFileName(record)) }))
    .toSorted((a, b) => (a.record.name < b.record.name ? -1 : 1));
  const missing: PackageRecord[] = [];
  for (const { record, file } of packages) if ((await sha256Of(file)) !== record.sha256) missing.push(record);
  if (missing.length > 0) await fetchInto(apt, missing, options.progress);
  return packages.map(({ record: { name, version, architecture, sha256 }, file }) => ({
    name,
    version,
    architecture,
    sha256,
    file,
  }));
}

async function recordsOf(apt: Apt, packages: readonly string[]): Promise<PackageRecord[]> {
  const found = parseRecords(await apt.cache(['show', '--no-all-versions', ...packages]));
  for (const wanted of packages) {
    const name = wanted.split('=')[0];
    if (!found.some((record) => record.name === name))
      throw new Error(`${apt.settings.suite} has no package ${wanted}`);
  }
  return found;
}

/** A package appears under its name only whole and checked: apt checks the digest, the rename shows it. */
async function fetchInto(
  apt: Apt,
  records: readonly PackageRecord[],
  progress?: (line: string) => void,
): Promise<void> {
  const debs = path.join(apt.settings.directory, 'debs');
  const megabytes = records.reduce((sum, record) => sum + record.sizeBytes, 0) / 1e6;
  progress?.(`downloading ${records.length} Debian packages, ${megabytes.toFixed(1)} MB`);
  await inWorkFolder(apt.settings.directory, async (work) => {
    await apt.get(['download', ...records.map(({ name, version }) => `${name}=${version}`)], work);
    for (const name of await readdir(work)) await rename(path.join(work, name), path.join(debs, name));
  });
}

async function sha256Of(file: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}
