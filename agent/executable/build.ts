import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { openToolbox } from '#base/debian/toolbox.ts';
import { isENOENT } from '#base/errors.ts';
import { keepNewest } from '#base/keepNewest.ts';
import { bundle, nativeBinaries, projectRoot } from './bundle.ts';
import { nativesFor } from './natives.ts';

export interface ExecutableOptions {
  /** `.cache` of the project unless named. */
  cacheDirectory?: string;
  /** Where Debian's packages are kept; `debian` in the cache directory unless named. */
  debianCache?: string;
  /** The program inside; the daemon unless named. */
  entry?: string;
  progress?: (line: string) => void;
}

export interface Executable {
  file: string;
  /** sha256 in hex of the file. */
  digest: string;
  sizeBytes: number;
}

/** Everything that decides the executable's bytes. */
interface Parts {
  node: string;
  program: string;
  binaries: Map<string, Buffer>;
}

/**
 * Builds `bcd` as one executable file for this machine's architecture: Node without its symbols, the bundled program with its
 * code cache, and the native modules. The same inputs give the same bytes; an executable of these inputs is built once.
 */
export async function buildExecutable(options: ExecutableOptions = {}): Promise<Executable> {
  const cache = path.resolve(options.cacheDirectory ?? path.join(projectRoot, '.cache'));
  const parts = await readParts(options.entry ?? 'agent/executable/main.ts');
  const name = await inputDigest(parts);
  const file = path.join(cache, 'bcd', name, 'bcd');
  const found = await describe(file);
  if (found !== undefined) return found;
  options.progress?.('building the bcd executable');
  const directory = path.join(cache, 'bcd');
  await mkdir(directory, { recursive: true });
  const work = await mkdtemp(path.join(directory, '.partial-'));
  try {
    await assemble(parts, work, options.debianCache ?? path.join(cache, 'debian'));
    await mkdir(path.dirname(file), { recursive: true });
    await rename(path.join(work, 'bcd'), file);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  await keepNewest(directory, name, 6);
  return (await describe(file))!;
}

async function readParts(entry: string): Promise<Parts> {
  const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
  const natives = nativesFor(arch);
  return {
    node: path.join(projectRoot, `node_modules/node-linux-${arch}/bin/node`),
    program: await bundle(entry, natives),
    binaries: await nativeBinaries(natives),
  };
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
  const toolbox = await openToolbox(['binutils'], { cacheDirectory: debianCache });
  await toolbox.run('usr/bin/strip', ['-o', at('node'), parts.node]);
  await writeFile(at('program.cjs'), parts.program);
  for (const [name, bytes] of parts.binaries) await writeFile(at(name), bytes);
  await writeFile(at('sea.json'), JSON.stringify(seaConfig([...parts.binaries.keys()])));
  // Without a fixed seed the code cache differs in a few bytes each time; other seed flags make V8 refuse the cache.
  await run(parts.node, ['--random-seed=1', '--build-sea', 'sea.json'], { cwd: work });
  await chmod(at('bcd'), 0o755);
}

/** https://nodejs.org/api/single-executable-applications.html; paths are relative to the working directory. */
function seaConfig(assets: readonly string[]): object {
  return {
    main: 'program.cjs',
    executable: 'node',
    output: 'bcd',
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
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
