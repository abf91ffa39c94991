import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { architectureNames, type MachineArchitecture } from '#base/architecture.ts';
import { cachedFiles, type Files } from './cached.ts';
import { type CpioEntry, cpioArchive } from './cpio.ts';
import { loadOrder, type ModuleTree } from './moduleTree.ts';
import { type Packages, type Parts, unpackParts } from './parts.ts';
import { makeSquashfs } from './squashfs.ts';
import { stageRoot } from './stage.ts';

const names = ['stub', 'linux', 'uname', 'initrd'] as const;

export interface RootLayerOptions {
  directory: string;
  architecture: MachineArchitecture;
  packages: Packages;
  release: boolean;
  progress?: (line: string) => void;
}

/** The EFI stub, the kernel, its version, and an initramfs with all of the ramdisk but the agent. */
export function rootLayer(options: RootLayerOptions): Promise<Files<(typeof names)[number]>> {
  const { directory, architecture, packages, release, progress } = options;
  return cachedFiles(directory, names, async (work, result) => {
    progress?.('unpacking the packages of the ramdisk');
    const parts = await unpackParts(packages, work);
    const stage = path.join(work, 'root');
    const tree = await stageRoot(stage, parts, architecture);
    progress?.(`compressing the ramdisk${release ? ' for a release, half a minute' : ''}`);
    const squashfs = path.join(work, 'root.squashfs');
    await makeSquashfs(stage, squashfs, release, packages.toolbox);
    await copyKernel(parts, { architecture, version: tree.version }, result);
    await writeFile(path.join(result, 'initrd'), await firstStage(stage, tree, squashfs));
  });
}

async function copyKernel(
  { kernelRoot }: Parts,
  { architecture, version }: { architecture: MachineArchitecture; version: string },
  result: string,
): Promise<void> {
  const { efi } = architectureNames[architecture];
  const stubs = path.join(kernelRoot, 'usr/lib/systemd/boot/efi');
  await copyFile(path.join(stubs, `linux${efi}.efi.stub`), path.join(result, 'stub'));
  await copyFile(path.join(kernelRoot, 'boot', `vmlinuz-${version}`), path.join(result, 'linux'));
  await writeFile(path.join(result, 'uname'), version);
}

/** busybox, the modules that the root file system needs, and that file system, which is compressed already. */
async function firstStage(stage: string, tree: ModuleTree, squashfs: string): Promise<Buffer> {
  const entries: CpioEntry[] = [];
  for (const name of ['agent', 'bin', 'dev', 'etc', 'lower', 'modules', 'new', 'proc', 'room', 'sys'])
    entries.push({ path: name, kind: 'directory', mode: 0o755, data: Buffer.alloc(0) });
  const add = async (name: string, mode: number, source: string): Promise<void> => {
    entries.push({ path: name, kind: 'file', mode, data: await readFile(source) });
  };
  await add('bin/busybox', 0o755, path.join(stage, 'usr/bin/busybox'));
  await add('init', 0o755, path.join(import.meta.dirname, 'firstStage/init'));
  for (const [index, name] of loadOrder(tree, ['loop', 'squashfs', 'overlay']).entries())
    await add(`modules/${index}-${name}.ko`, 0o644, tree.modules.get(name)!.file);
  await add('root.squashfs', 0o644, squashfs);
  return cpioArchive(entries);
}
