import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  architectureNames,
  hostArchitecture,
  type MachineArchitecture,
  packageName,
} from '#base/architecture.ts';
import { run } from '#base/command.ts';
import { openToolbox } from '#base/debian/toolbox.ts';
import { isENOENT } from '#base/errors.ts';
import { keepNewest } from '#base/keepNewest.ts';
import { inWorkFolder } from '#base/workFolder.ts';
import { projectRoot } from './bundle.ts';
import { type Parts, readParts } from './parts.ts';

export interface ExecutableOptions {
  /** `.cache` of the project unless named. */
  cacheDirectory?: string;
  /** Where Debian's packages are kept; `debian` in the cache directory unless named. */
  debianCache?: string;
  /** The program inside; the daemon unless named. */
  entry?: string;
  /** This machine's unless named. */
  architecture?: MachineArchitecture;
  progress?: (line: string) => void;
}

/** Of the same version as the Node inside, which the lock file sees to. */
const hostNode = path.join(
  projectRoot,
  `node_modules/node-linux-${architectureNames[hostArchitecture].node}/bin/node`,
);

export interface Executable {
  file: string;
  /** sha256 in hex of the file. */
  digest: string;
  sizeBytes: number;
}

/**
 * Builds `bcd` as one executable file: Node without its symbols, the bundled program with its code cache, and the native
 * modules. For another architecture than this machine's there is no code cache: that Node cannot run here to make it. The same
 * inputs give the same bytes; an executable of these inputs is built once.
 */
export async function buildExecutable(options: ExecutableOptions = {}): Promise<Executable> {
  const cache = path.resolve(options.cacheDirectory ?? path.join(projectRoot, '.cache'));
  const debianCache = options.debianCache ?? path.join(cache, 'debian');
  const parts = await readParts({
    entry: options.entry ?? 'agent/executable/main.ts',
    architecture: options.architecture ?? hostArchitecture,
    directory: path.join(cache, 'bcd-parts'),
    debianCache,
    ...(options.progress && { progress: options.progress }),
  });
  const name = await inputDigest(parts);
  const file = path.join(cache, 'bcd', name, 'bcd');
  const found = await describe(file);
  if (found !== undefined) return found;
  options.progress?.('building the bcd executable');
  const directory = path.join(cache, 'bcd');
  await inWorkFolder(directory, async (work) => {
    await assemble(parts, work, debianCache);
    await mkdir(path.dirname(file), { recursive: true });
    await rename(path.join(work, 'bcd'), file);
  });
  await keepNewest(directory, name, 6);
  return (await describe(file))!;
}

async function inputDigest(parts: Parts): Promise<string> {
  const hash = createHash('sha256').update('bcd executable 1\n').update(parts.program);
  for (const binary of parts.binaries.values()) hash.update(binary);
  return hash
    .update(await readFile(parts.node))
    .digest('hex')
    .slice(0, 32);
}

async function assemble(parts: Parts, work: string, debianCache: string): Promise<void> {
  const at = (name: string): string => path.join(work, name);
  await stripSymbols(parts, at('node'), debianCache);
  await writeFile(at('program.cjs'), parts.program);
  for (const [name, bytes] of parts.binaries) await writeFile(at(name), bytes);
  const own = parts.architecture === hostArchitecture;
  await writeFile(at('sea.json'), JSON.stringify(seaConfig([...parts.binaries.keys()], own)));
  // Without a fixed seed the code cache differs in a few bytes each time; other seed flags make V8 refuse the cache.
  await run(hostNode, ['--random-seed=1', '--build-sea', 'sea.json'], { cwd: work });
  await chmod(at('bcd'), 0o755);
}

async function stripSymbols(parts: Parts, output: string, debianCache: string): Promise<void> {
  const { triplet } = architectureNames[parts.architecture];
  const own = parts.architecture === hostArchitecture;
  const packages = [own ? 'binutils' : `binutils-${packageName(triplet)}`];
  const toolbox = await openToolbox(packages, { cacheDirectory: debianCache });
  await toolbox.run(`usr/bin/${own ? '' : `${triplet}-`}strip`, ['-o', output, parts.node]);
}

/** https://nodejs.org/api/single-executable-applications.html; paths are relative to the working directory. */
function seaConfig(assets: readonly string[], useCodeCache: boolean): object {
  return {
    main: 'program.cjs',
    executable: 'node',
    output: 'bcd',
    disableExperimentalSEAWarning: true,
    useCodeCache,
    execArgvExtension: 'none',
    assets: Object.fromEntries(assets.map((name) => [name, name])),
  };
}

async function describe(file: string): Promise<Executable | undefined> {
  try {
    const bytes = await readFile(file);
    return { file, digest: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.length };
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}
