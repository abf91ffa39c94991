import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '#base/command.ts';
import { file, type TreeEntry } from './tree.ts';

/** What it takes to mount the root file system from any disk that QEMU or a plain server shows. */
export const diskModules = [
  'virtio_blk',
  'virtio_scsi',
  'nvme',
  'ahci',
  'ata_piix',
  'sd_mod',
  'crc32c_generic',
  'ext4',
];

/** What the running OS needs besides: network cards, the ESP, entropy, the power button. */
export const systemModules = [
  'virtio_net',
  'e1000',
  'e1000e',
  'igb',
  'vfat',
  'nls_cp437',
  'nls_ascii',
  'virtio_rng',
  'button',
  'evdev',
];

interface ModuleOptions {
  modules: readonly string[];
  /** The folder of unpacked packages; `depmod` has run there. */
  packages: string;
  kernelRelease: string;
  /** The busybox of the packages: it unpacks .xz, which a minimal host may be unable to. */
  busybox: string;
}

/** The named modules with all that they depend on, uncompressed (modprobe in an emulated machine is slow at it), and their indexes. */
export async function moduleTree(options: ModuleOptions): Promise<TreeEntry[]> {
  const { packages, kernelRelease } = options;
  const base = `lib/modules/${kernelRelease}`;
  const entries: TreeEntry[] = [];
  for (const source of await closure(options)) {
    const target = path.relative(path.join(packages, 'usr'), source).replace(/\.xz$/, '');
    entries.push(file(target, await uncompressed(source, options.busybox)));
  }
  const builtin = `${base}/modules.builtin`;
  entries.push(file(builtin, await readFile(path.join(packages, 'usr', builtin))));
  return [...entries, ...(await indexes(entries, kernelRelease))];
}

/** Makes modprobe find its way in the unpacked packages. */
export async function indexModules(packages: string, kernelRelease: string): Promise<void> {
  await run('depmod', ['-b', path.join(packages, 'usr'), kernelRelease]);
}

async function closure({ modules, packages, kernelRelease }: ModuleOptions): Promise<string[]> {
  const found = new Set<string>();
  for (const module of modules) {
    const where = ['-d', path.join(packages, 'usr'), '-S', kernelRelease];
    const listing = await run('modprobe', [...where, '--show-depends', module]);
    for (const match of listing.matchAll(/^insmod (\S+)/gm)) found.add(path.normalize(match[1] ?? ''));
  }
  return [...found].toSorted();
}

async function uncompressed(source: string, busybox: string): Promise<Buffer> {
  if (!source.endsWith('.xz')) return readFile(source);
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-module-'));
  try {
    const copy = path.join(directory, 'module.ko.xz');
    await writeFile(copy, await readFile(source));
    await run(busybox, ['unxz', copy]);
    return await readFile(path.join(directory, 'module.ko'));
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** modules.dep and modules.alias for just these modules: short lists are quick to search. */
async function indexes(modules: readonly TreeEntry[], kernelRelease: string): Promise<TreeEntry[]> {
  const root = await mkdtemp(path.join(tmpdir(), 'railhead-depmod-'));
  try {
    for (const entry of modules) {
      if (entry.kind !== 'file') continue;
      await mkdir(path.join(root, path.dirname(entry.path)), { recursive: true });
      await writeFile(path.join(root, entry.path), entry.content);
    }
    await run('depmod', ['-b', root, kernelRelease]);
    const names = ['modules.dep', 'modules.alias', 'modules.softdep', 'modules.symbols'];
    return await Promise.all(
      names.map(async (name) => {
        const at = `lib/modules/${kernelRelease}/${name}`;
        return file(at, await readFile(path.join(root, at)));
      }),
    );
  } finally {
    await rm(root, { recursive: true });
  }
}
