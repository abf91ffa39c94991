import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { type CommandOptions, run } from '#base/command.ts';
import { type DebianOptions, type DebianPackage, download, unpack } from '#base/debian.ts';

/** Programs of the fixed suite that run on any host without being installed, so that they build the same everywhere. */
export interface Toolbox {
  packages: DebianPackage[];
  /** Where the packages are unpacked. */
  root: string;
  /** How a program of the toolbox is started: the program, and its arguments. */
  command(program: string, args: readonly string[]): [program: string, args: string[]];
  /** Runs a program of the toolbox, named by its path in it, e.g. `usr/bin/mksquashfs`. */
  run(program: string, args: readonly string[], options?: CommandOptions): Promise<string>;
}

const loaders = {
  amd64: { loader: 'usr/lib64/ld-linux-x86-64.so.2', libraries: 'usr/lib/x86_64-linux-gnu' },
  arm64: { loader: 'usr/lib/ld-linux-aarch64.so.1', libraries: 'usr/lib/aarch64-linux-gnu' },
} as const;

/** Downloads the packages with what they depend on, for the machine this runs on, and unpacks them once. */
export async function openToolbox(packages: readonly string[], options: DebianOptions): Promise<Toolbox> {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const found = await download({
    ...options,
    suite: 'trixie',
    architecture,
    packages,
    withDependencies: true,
  });
  const root = await unpackOnce(found, path.resolve(options.cacheDirectory, 'toolboxes'));
  const { loader, libraries } = loaders[architecture];
  const start = ['--library-path', path.join(root, libraries)];
  const command = (program: string, args: readonly string[]): [string, string[]] => [
    path.join(root, loader),
    [...start, path.join(root, program), ...args],
  ];
  return {
    packages: found,
    root,
    command,
    run: (program, args, commandOptions) => run(...command(program, args), commandOptions),
  };
}

/** A folder named by the packages' digests appears whole or not at all. */
async function unpackOnce(packages: readonly DebianPackage[], directory: string): Promise<string> {
  const digest = createHash('sha256').update(packages.map(({ sha256 }) => sha256).join('\n'));
  const root = path.join(directory, digest.digest('hex').slice(0, 32));
  if (await exists(root)) return root;
  await mkdir(directory, { recursive: true });
  const temporary = await mkdtemp(path.join(directory, '.partial-'));
  try {
    for (const { file } of packages) await unpack(file, temporary);
    await rename(temporary, root);
  } catch (error) {
    // Another process may have been first: what it unpacked is the same.
    if (!(await exists(root))) throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return root;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
