import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { openToolbox } from '#base/debian/toolbox.ts';
import { type BootableIso, elToritoIso } from '#base/elTorito.ts';
import { assembleUki } from '#base/uki.ts';
import { inWorkFolder } from '#base/workFolder.ts';
import { type CpioEntry, cpioArchive } from '#ramdisk/image/cpio.ts';
import { zstdFrame } from '../os/compress.ts';
import { type OsPackages, osPackages, unpacked } from '../os/packages.ts';

/** What the ISO says on the console once its own user space runs. */
export const isoLine = 'RAILHEAD-ISO is running';

const commandLine = 'console=tty0 console=ttyS0,115200 quiet';

export interface Iso {
  file: string;
  sha256: string;
  sizeBytes: number;
}

/** What the ISO is made of, in the cache. */
export interface IsoPackages {
  os: OsPackages;
  /** Where isolinux is unpacked. */
  isolinux: string;
  cacheDirectory: string;
}

/** Fetches it, unless it is there; `cacheDirectory` is the project's. A line has no way to the archive any more. */
export async function isoPackages(
  cacheDirectory: string,
  progress?: (line: string) => void,
): Promise<IsoPackages> {
  const os = await osPackages(cacheDirectory, 'plain', progress);
  const { root } = await openToolbox(['isolinux', 'syslinux-common'], {
    cacheDirectory: path.join(cacheDirectory, 'debian'),
  });
  return { os, isolinux: root, cacheDirectory };
}

/**
 * Makes a small ISO in `directory` that boots on UEFI and, by isolinux, on BIOS, and is whole in memory then: Debian's kernel, and an
 * initramfs of busybox that says so on the console.
 */
export async function buildIso(directory: string, parts: IsoPackages): Promise<Iso> {
  const { os: inputs, cacheDirectory } = parts;
  const packages = await unpacked(inputs.packages, cacheDirectory);
  const from = (at: string) => readFile(path.join(packages, at));
  const kernel = await from(`boot/vmlinuz-${inputs.kernelRelease}`);
  const initrd = await zstdFrame(initramfs(await from('usr/bin/busybox')));
  const image = assembleUki({
    stub: await from('usr/lib/systemd/boot/efi/linuxx64.efi.stub'),
    sections: [
      { name: '.osrel', data: Buffer.from('ID=railhead-iso\n') },
      { name: '.cmdline', data: Buffer.from(commandLine) },
      { name: '.uname', data: Buffer.from(inputs.kernelRelease) },
      { name: '.initrd', data: initrd },
      { name: '.linux', data: kernel },
    ],
  });
  const iso = elToritoIso({
    label: 'RAILHEAD',
    uefi: await bootFileSystem(image, directory),
    bios: await isolinux(kernel, initrd, parts.isolinux),
  });
  const file = path.join(directory, 'small.iso');
  await writeFile(file, iso);
  return { file, sha256: createHash('sha256').update(iso).digest('hex'), sizeBytes: iso.length };
}

/** What BIOS starts, and what that reads from the ISO: each block by a range of its own. */
async function isolinux(kernel: Buffer, initrd: Buffer, root: string): Promise<BootableIso['bios']> {
  const configuration = [
    ...['SERIAL 0 115200', 'DEFAULT linux', 'LABEL linux', 'KERNEL VMLINUZ.IMG'],
    `APPEND initrd=INITRD.IMG ${commandLine}`,
  ];
  return {
    loader: await readFile(path.join(root, 'usr/lib/ISOLINUX/isolinux.bin')),
    files: [
      { name: 'ISOLINUX.CFG', data: Buffer.from(`${configuration.join('\n')}\n`) },
      {
        name: 'LDLINUX.C32',
        data: await readFile(path.join(root, 'usr/lib/syslinux/modules/bios/ldlinux.c32')),
      },
      { name: 'VMLINUZ.IMG', data: kernel },
      { name: 'INITRD.IMG', data: initrd },
    ],
  };
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
  return inWorkFolder(directory, async (scratch) => {
    const [fat, loader] = [path.join(scratch, 'boot.fat'), path.join(scratch, 'BOOTX64.EFI')];
    await writeFile(loader, image);
    await writeFile(fat, Buffer.alloc(Math.ceil(image.length / mebibyte + 2) * mebibyte));
    await run('mkfs.vfat', ['-F', '16', fat]);
    await run('mmd', ['-i', fat, '::/EFI', '::/EFI/BOOT']);
    await run('mcopy', ['-i', fat, loader, '::/EFI/BOOT/BOOTX64.EFI']);
    return readFile(fat);
  });
}
