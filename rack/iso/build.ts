import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { assembleUki } from '#base/uki.ts';
import { type CpioEntry, cpioArchive } from '#ramdisk/image/cpio.ts';
import { zstdFrame } from '../os/compress.ts';
import { osPackages, unpacked } from '../os/packages.ts';
import { elToritoIso } from './elTorito.ts';

/** What the ISO says on the console once its own user space runs. */
export const isoLine = 'RAILHEAD-ISO is running';

export interface Iso {
  file: string;
  sha256: string;
  sizeBytes: number;
}

/**
 * Makes a small ISO in `directory` that boots on UEFI and is whole in memory then: Debian's kernel, and an initramfs of busybox that
 * says so on the console. `cacheDirectory` is the project's, where packages are kept.
 */
export async function buildIso(
  directory: string,
  cacheDirectory: string,
  progress?: (line: string) => void,
): Promise<Iso> {
  const inputs = await osPackages(cacheDirectory, 'plain', progress);
  const packages = await unpacked(inputs.packages, cacheDirectory);
  const from = (at: string) => readFile(path.join(packages, at));
  const image = assembleUki({
    stub: await from('usr/lib/systemd/boot/efi/linuxx64.efi.stub'),
    sections: [
      { name: '.osrel', data: Buffer.from('ID=railhead-iso\n') },
      { name: '.cmdline', data: Buffer.from('console=tty0 console=ttyS0,115200 quiet') },
      { name: '.uname', data: Buffer.from(inputs.kernelRelease) },
      { name: '.initrd', data: await zstdFrame(initramfs(await from('usr/bin/busybox'))) },
      { name: '.linux', data: await from(`boot/vmlinuz-${inputs.kernelRelease}`) },
    ],
  });
  const iso = elToritoIso(await bootFileSystem(image, directory), 'RAILHEAD');
  const file = path.join(directory, 'small.iso');
  await writeFile(file, iso);
  return { file, sha256: createHash('sha256').update(iso).digest('hex'), sizeBytes: iso.length };
}

function initramfs(busybox: Buffer): Buffer {
  const none = Buffer.alloc(0);
  const init = ['#!/bin/busybox sh', `echo ${isoLine}`, 'exec /bin/busybox sleep 1000000', ''].join('\n');
  const entries: CpioEntry[] = [
    { path: 'bin', kind: 'directory', mode: 0o755, data: none },
    { path: 'dev', kind: 'directory', mode: 0o755, data: none },
    { path: 'bin/busybox', kind: 'file', mode: 0o755, data: busybox },
    { path: 'init', kind: 'file', mode: 0o755, data: Buffer.from(init) },
  ];
  return cpioArchive(entries);
}

const mebibyte = 1024 * 1024;

async function bootFileSystem(image: Buffer, directory: string): Promise<Buffer> {
  await mkdir(directory, { recursive: true });
  const scratch = await mkdtemp(path.join(directory, 'iso-'));
  try {
    const [fat, loader] = [path.join(scratch, 'boot.fat'), path.join(scratch, 'BOOTX64.EFI')];
    await writeFile(loader, image);
    await writeFile(fat, Buffer.alloc(Math.ceil(image.length / mebibyte + 2) * mebibyte));
    await run('mkfs.vfat', ['-F', '16', fat]);
    await run('mmd', ['-i', fat, '::/EFI', '::/EFI/BOOT']);
    await run('mcopy', ['-i', fat, loader, '::/EFI/BOOT/BOOTX64.EFI']);
    return await readFile(fat);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
