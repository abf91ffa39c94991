import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  architectureNames,
  hostArchitecture,
  type MachineArchitecture,
  packageName,
} from '#base/architecture.ts';
import { openToolbox, type Toolbox } from '#base/debian/toolbox.ts';
import { writeDurably } from '#base/durableFile.ts';
import { inWorkFolder } from '#base/workFolder.ts';
import { bundle, projectRoot } from './bundle.ts';
import { crossZstd } from './crossZstd.ts';
import { type Native, nativesFor } from './natives.ts';
import { npmPackage } from './npmPackage.ts';

export interface PartsOptions {
  entry: string;
  architecture: MachineArchitecture;
  /** Where fetched and compiled parts of other architectures are kept. */
  directory: string;
  debianCache: string;
  progress?: (line: string) => void;
}

/** Everything that decides the executable's bytes. */
export interface Parts {
  architecture: MachineArchitecture;
  /** Node for that architecture. */
  node: string;
  program: string;
  /** The native modules, by the name under which the executable finds them. */
  binaries: Map<string, Buffer>;
}

export async function readParts(options: PartsOptions): Promise<Parts> {
  const { architecture, directory, progress } = options;
  const { node: arch } = architectureNames[architecture];
  await mkdir(directory, { recursive: true });
  const fetching = { directory, ...(progress && { progress }) };
  const nodePackage = await npmPackage(`node-linux-${arch}`, fetching);
  const natives = nativesFor(arch);
  const binaries: Parts['binaries'] = new Map();
  for (const native of natives) {
    const compileIt = native.compiled === true && architecture !== hostArchitecture;
    const bytes = compileIt
      ? await compiled(native, options, path.join(nodePackage, 'include/node'))
      : await readFile(path.join(await npmPackage(native.package, fetching), native.binary));
    binaries.set(`${native.name}.node`, bytes);
  }
  const program = await bundle(options.entry, natives);
  return { architecture, node: path.join(nodePackage, 'bin/node'), program, binaries };
}

/** The module compiled for another architecture, once for each version of it and of the compiler. */
async function compiled(native: Native, options: PartsOptions, headers: string): Promise<Buffer> {
  const { triplet } = architectureNames[options.architecture];
  const toolbox = await openToolbox([`g++-${packageName(triplet)}`], { cacheDirectory: options.debianCache });
  const name = `${native.name}-${triplet}-${await compiledKey(native, toolbox)}.node`;
  const kept = path.join(options.directory, name);
  const found = await readFile(kept).catch(() => undefined);
  if (found !== undefined) return found;
  options.progress?.(`compiling ${native.name} for ${options.architecture}, a minute`);
  const bytes = await inWorkFolder(options.directory, (work) =>
    crossZstd({ triplet, toolbox, headers, work }),
  );
  await writeDurably(kept, bytes);
  return bytes;
}

async function compiledKey(native: Native, toolbox: Toolbox): Promise<string> {
  const hash = createHash('sha256');
  hash.update(await readFile(path.join(projectRoot, 'node_modules', native.package, 'package.json')));
  hash.update(await readFile(path.join(import.meta.dirname, 'crossZstd.ts')));
  for (const { sha256 } of toolbox.packages) hash.update(sha256);
  return hash.digest('hex').slice(0, 16);
}
