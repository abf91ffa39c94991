import { createHash } from 'node:crypto';
import path from 'node:path';
import { type CommandOptions, run } from '#base/command.ts';
import { type DebianOptions, type DebianPackage, download } from '#base/debian.ts';
import { unpackOnce } from './unpackOnce.ts';

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
  const folder = path.resolve(options.cacheDirectory, 'toolboxes', digestOf(found));
  const root = await unpackOnce(found, folder);
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

function digestOf(packages: readonly DebianPackage[]): string {
  const digest = createHash('sha256').update(packages.map(({ sha256 }) => sha256).join('\n'));
  return digest.digest('hex').slice(0, 32);
}
