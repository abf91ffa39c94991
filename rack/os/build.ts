import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeDurably } from '#base/durableFile.ts';
import { makeOnce } from '#base/makeOnce.ts';
import { sweepWorkFolders } from '#base/workFolder.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Compression } from '#contract/images.ts';
import { artifactSuffix, compressor } from './compress.ts';
import { type OsKind, smallestDisk } from './disk.ts';
import { inputKey } from './inputs.ts';
import { type OsPackages, osPackages } from './packages.ts';
import { buildRaw } from './raw.ts';

export interface OsOptions {
  /** `name@version`: shown by the OS on the console, at `/` and in `/etc/os-release`. */
  ref: string;
  /** The hostname where neither meta-data nor user data gives one; `localhost` unless named. */
  hostnameDefault?: string;
  /** The project's cache: packages are kept in `debian/`, images in `os/`. */
  cacheDirectory: string;
  /** `zstd` unless named. */
  compression?: Compression;
  /** `host`: with curl and the libraries that the `bcd` executable needs. `plain` unless named. */
  kind?: OsKind;
  /** Size of the disk in bytes, unless named the smallest (130 MiB of a plain OS); any number from there on, a multiple of a sector or not. */
  padTo?: number;
  progress?: (line: string) => void;
}

export interface OsImage {
  /** The disk as it is to be on the machine. */
  file: string;
  rawSha256: string;
  diskBytes: number;
  /** What is registered and served: the disk, compressed. */
  artifact: string;
  compression: Compression;
  sha256: string;
  sizeBytes: number;
}

/**
 * Builds the demo's OS image, or finds it in the cache: a GPT disk that boots on UEFI (unified kernel image in the ESP) and
 * BIOS (syslinux in the same partition). The same inputs give the same bytes.
 * @throws RailheadError INVALID_INPUT for a ref, hostname or size that cannot be; CommandFailed when a tool fails
 */
export async function buildOs(options: OsOptions): Promise<OsImage> {
  const parameters = checked(options);
  const cacheDirectory = path.resolve(options.cacheDirectory);
  await mkdir(path.join(cacheDirectory, 'os'), { recursive: true });
  await sweepWorkFolders(path.join(cacheDirectory, 'os'));
  const inputs = await osPackages(cacheDirectory, parameters.kind, options.progress);
  const key = inputKey(parameters, inputs.packages);
  const directory = path.join(cacheDirectory, 'os', `image-${key.slice(0, 16)}`);
  const { compression = 'zstd' } = options;
  const facts = path.join(directory, `${compression}.json`);
  const raw = path.join(directory, 'disk.raw');
  const artifact = `${raw}${artifactSuffix[compression]}`;
  const known = await readFacts(facts);
  if (known !== undefined) return { ...known, file: raw, artifact };
  await ensureRaw(directory, { ...parameters, key, inputs, cacheDirectory }, options.progress);
  options.progress?.(`compressing the disk of ${options.ref} (${compression})`);
  const image = await compress(raw, artifact, compression);
  await writeDurably(facts, JSON.stringify(image));
  return image;
}

interface Parameters {
  ref: string;
  hostname: string;
  kind: OsKind;
  diskBytes: number;
}

interface RawInputs extends Parameters {
  key: string;
  inputs: OsPackages;
  cacheDirectory: string;
}

function checked({ ref, hostnameDefault = 'localhost', kind = 'plain', padTo }: OsOptions): Parameters {
  const diskBytes = padTo ?? smallestDisk(kind);
  if (!/^[A-Za-z0-9][A-Za-z0-9._:/+-]*(@[A-Za-z0-9._+-]+)?$/.test(ref)) throw invalid('ref', 'name@version');
  if (!/^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/.test(hostnameDefault))
    throw invalid('hostnameDefault', 'a hostname');
  if (!Number.isSafeInteger(diskBytes) || diskBytes < smallestDisk(kind))
    throw invalid('padTo', `at least ${smallestDisk(kind)} bytes`);
  return { ref, hostname: hostnameDefault, kind, diskBytes };
}

function invalid(field: string, expected: string): RailheadError {
  return new RailheadError('INVALID_INPUT', `${field} must be ${expected}`, { path: field, expected });
}

async function ensureRaw(
  directory: string,
  inputs: RawInputs,
  progress?: (line: string) => void,
): Promise<void> {
  await makeOnce(directory, async (work) => {
    progress?.(`building the demo OS ${inputs.ref}`);
    await buildRaw({ ...inputs, directory: work });
    return work;
  });
}

async function compress(raw: string, artifact: string, compression: Compression): Promise<OsImage> {
  const before = createHash('sha256');
  const after = createHash('sha256');
  if (compression === 'none') await pipeline(createReadStream(raw), before);
  else {
    const partial = `${artifact}.${process.pid}.partial`;
    const stages = [hashing(before), compressor(compression), hashing(after)] as const;
    await pipeline(createReadStream(raw), ...stages, createWriteStream(partial));
    await rename(partial, artifact);
  }
  const rawSha256 = before.digest('hex');
  return {
    file: raw,
    rawSha256,
    diskBytes: (await stat(raw)).size,
    artifact,
    compression,
    sha256: compression === 'none' ? rawSha256 : after.digest('hex'),
    sizeBytes: (await stat(artifact)).size,
  };
}

function hashing(hash: ReturnType<typeof createHash>): PassThrough {
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => hash.update(chunk));
  return stream;
}

async function readFacts(facts: string): Promise<OsImage | undefined> {
  const text = await readFile(facts, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as OsImage);
}
