import path from 'node:path';
import { type CpioEntry, cpioArchive } from '#ramdisk/image/cpio.ts';
import { zstdFrame } from './compress.ts';
import { completeTree, directory, file, overlay, symlink, type TreeEntry } from './tree.ts';

/** The busybox applets that `init` calls. */
const applets = [
  'cat',
  'findfs',
  'ls',
  'modprobe',
  'mount',
  'sed',
  'sh',
  'sleep',
  'sort',
  'switch_root',
  'tr',
  'xargs',
];

/** The initramfs, compressed: busybox, the disk drivers and our `init`, which finds the root file system. */
export function initramfs(busybox: Buffer, modules: readonly TreeEntry[]): Promise<Buffer> {
  const tree = completeTree([
    ...['dev', 'proc', 'sys', 'root'].map((name) => directory(name)),
    file('bin/busybox', busybox, 0o755),
    ...applets.map((name) => symlink(`bin/${name}`, 'busybox')),
    ...modules,
    ...overlay(path.join(import.meta.dirname, 'files/initramfs')),
  ]);
  return zstdFrame(cpioArchive(tree.map(cpioEntry)));
}

function cpioEntry(entry: TreeEntry): CpioEntry {
  const { path: at } = entry;
  if (entry.kind === 'symlink')
    return { path: at, kind: 'link', mode: 0o777, data: Buffer.from(entry.target) };
  if (entry.kind === 'directory')
    return { path: at, kind: 'directory', mode: entry.mode, data: Buffer.alloc(0) };
  return { path: at, kind: 'file', mode: entry.mode, data: entry.content };
}
