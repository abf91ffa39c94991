import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Toolbox } from '#base/debian/toolbox.ts';
import { projectRoot } from './bundle.ts';

export interface CrossBuild {
  /** GNU triplet, e.g. `aarch64-linux-gnu`. */
  triplet: string;
  /** Has that architecture's `g++`. */
  toolbox: Toolbox;
  /** Node's headers. */
  headers: string;
  /** An empty folder. */
  work: string;
}

const source = path.join(projectRoot, 'node_modules/zstd-napi');

/** As in the package's own binding.gyp, build_flags.gypi and deps/zstd.gyp. */
const definitions = [
  ...['NAPI_VERSION=10', 'NODE_ADDON_API_DISABLE_DEPRECATED', 'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS'],
  ...['NODE_API_NO_EXTERNAL_BUFFERS_ALLOWED', 'NODE_GYP_MODULE_NAME=binding', 'BUILDING_NODE_EXTENSION'],
  ...[
    'XXH_NAMESPACE=ZSTD_',
    'ZSTDERRORLIB_VISIBLE=',
    'ZSTDLIB_VISIBLE=',
    'ZSTD_MULTITHREAD',
    'ZSTD_NO_TRACE',
  ],
  '_FORTIFY_SOURCE=2',
].map((definition) => `-D${definition}`);

const options = ['-c', '-O3', '-fPIC', '-pthread', '-fvisibility=hidden', '-fexceptions'];

/**
 * Compiles zstd-napi, the one native module that is published without binaries, for another architecture. A minute.
 * @throws CommandFailed with the compiler's words
 */
export async function crossZstd(build: CrossBuild): Promise<Buffer> {
  const sources = await sourceFiles();
  const objects = sources.map((_, index) => path.join(build.work, `${index}.o`));
  for (const [index, file] of sources.entries()) await compile(file, objects[index]!, build);
  const output = path.join(build.work, 'binding.node');
  await link(objects, output, build);
  return readFile(output);
}

async function sourceFiles(): Promise<string[]> {
  const folders = ['src', ...['common', 'compress', 'decompress'].map((name) => `deps/zstd/lib/${name}`)];
  const files: string[] = [];
  for (const folder of folders)
    for (const name of (await readdir(path.join(source, folder))).sort())
      if (/\.(c|cc)$/.test(name)) files.push(path.join(folder, name));
  return files;
}

async function compile(
  file: string,
  object: string,
  { triplet, toolbox, headers }: CrossBuild,
): Promise<void> {
  const cpp = file.endsWith('.cc');
  const compiler = `usr/bin/${triplet}-${cpp ? 'g++' : 'gcc'}`;
  const includes = [headers, path.join(projectRoot, 'node_modules/zstd-napi/node_modules/node-addon-api')];
  await toolbox.run(
    compiler,
    [
      ...throughLoader(toolbox),
      ...(cpp ? ['-std=gnu++20', '-fno-rtti', '-fno-strict-aliasing'] : []),
      ...options,
      ...definitions,
      ...includes.map((folder) => `-I${folder}`),
      '-Ideps/zstd/lib',
      ...['-o', object, file],
    ],
    { cwd: source },
  );
}

/** The compiler's own parts must run with the toolbox's libraries, as it does itself, and not with the host's. */
function throughLoader(toolbox: Toolbox): string[] {
  const [loader, words] = toolbox.command('', []);
  return ['-wrapper', [loader, ...words.slice(0, 2)].join(',')];
}

/** The linker by itself: the compiler would start it with the host's libraries. */
async function link(
  objects: readonly string[],
  output: string,
  { triplet, toolbox }: CrossBuild,
): Promise<void> {
  const compilerFolder = path.join(toolbox.root, 'usr/lib/gcc-cross', triplet);
  const [version = ''] = await readdir(compilerFolder);
  const ours = path.join(compilerFolder, version);
  const libraries = path.join(toolbox.root, 'usr', triplet, 'lib');
  await toolbox.run(`usr/bin/${triplet}-ld`, [
    ...['-shared', '--build-id=none', '--strip-all', '--gc-sections', '--as-needed', '-z', 'noexecstack'],
    ...[
      '-z',
      'relro',
      '-z',
      'now',
      '-o',
      output,
      path.join(libraries, 'crti.o'),
      path.join(ours, 'crtbeginS.o'),
    ],
    ...objects,
    ...[`-L${ours}`, `-L${libraries}`, `--sysroot=${toolbox.root}`],
    ...[path.join(libraries, 'libstdc++.so.6'), path.join(libraries, 'libm.so.6')],
    ...[path.join(libraries, 'libgcc_s.so.1'), path.join(libraries, 'libc.so.6')],
    ...[path.join(ours, 'libgcc.a'), path.join(ours, 'crtendS.o'), path.join(libraries, 'crtn.o')],
  ]);
}
