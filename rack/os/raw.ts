import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { assembleUki } from '#base/uki.ts';
import { espLayout, makeDisk, type OsKind, rootBytes } from './disk.ts';
import { makeEsp } from './esp.ts';
import { makeExt4 } from './ext4.ts';
import { type DiskIdentity, diskIdentity } from './identity.ts';
import { initramfs } from './initramfs.ts';
import { diskModules, indexModules, moduleTree, systemModules } from './modules.ts';
import { type OsPackages, unpacked } from './packages.ts';
import { osRelease, rootTree } from './root.ts';

export interface RawOptions {
  ref: string;
  hostname: string;
  kind: OsKind;
  diskBytes: number;
  /** Of the inputs: every identifier on the disk is made from it. */
  key: string;
  inputs: OsPackages;
  cacheDirectory: string;
  /** Where `disk.raw` is made. */
  directory: string;
}

/** Makes `disk.raw` in a folder of its own: packages, then boot files, then the two file systems, then the disk. */
export async function buildRaw(options: RawOptions): Promise<void> {
  const packages = await unpacked(options.inputs.packages, options.cacheDirectory);
  const identity = diskIdentity(options.key);
  const esp = path.join(options.directory, 'esp.fat');
  const root = path.join(options.directory, 'root.ext4');
  await indexModules(packages, options.inputs.kernelRelease);
  await makeBootPartition(esp, packages, identity, options);
  await makeRootPartition(root, packages, identity, options);
  const bootCode = await readFile(path.join(packages, 'usr/lib/EXTLINUX/gptmbr.bin'));
  const file = path.join(options.directory, 'disk.raw');
  const { kind, diskBytes: sizeBytes } = options;
  await makeDisk({ file, sizeBytes, identity, kind, esp, root, bootCode });
  await rm(esp);
  await rm(root);
}

async function makeBootPartition(
  file: string,
  packages: string,
  identity: DiskIdentity,
  options: RawOptions,
): Promise<void> {
  const { kernelRelease } = options.inputs;
  const kernel = await readFile(path.join(packages, 'boot', `vmlinuz-${kernelRelease}`));
  const stub = await readFile(path.join(packages, 'usr/lib/systemd/boot/efi/linuxx64.efi.stub'));
  const initrd = await bootInitramfs(packages, kernelRelease);
  const commandLine = `root=UUID=${identity.rootFileSystem} console=tty0 console=ttyS0,115200 quiet`;
  await makeEsp({
    file,
    sizeBytes: espLayout.sizeBytes,
    volumeId: identity.espVolume,
    startSector: espLayout.startBytes / 512,
    files: {
      'EFI/BOOT/BOOTX64.EFI': unifiedKernelImage(stub, kernel, initrd, commandLine, options),
      'linux/vmlinuz': kernel,
      'linux/initrd.img': initrd,
      'syslinux.cfg': Buffer.from(syslinuxConfiguration(commandLine)),
    },
    syslinux: path.join(packages, 'usr/bin/syslinux'),
    scratch: path.join(options.directory, 'esp'),
  });
}

async function bootInitramfs(packages: string, kernelRelease: string): Promise<Buffer> {
  const busybox = path.join(packages, 'usr/bin/busybox');
  const modules = await moduleTree({ modules: diskModules, packages, kernelRelease, busybox });
  return initramfs(await readFile(busybox), modules);
}

function unifiedKernelImage(
  stub: Buffer,
  kernel: Buffer,
  initrd: Buffer,
  commandLine: string,
  { ref, inputs }: RawOptions,
): Buffer {
  const [name = ref, version = ''] = ref.split('@');
  const sections = [
    { name: '.osrel', data: Buffer.from(osRelease(name, version)) },
    { name: '.cmdline', data: Buffer.from(commandLine) },
    { name: '.uname', data: Buffer.from(inputs.kernelRelease) },
    { name: '.initrd', data: initrd },
    { name: '.linux', data: kernel },
  ];
  return assembleUki({ stub, sections });
}

function syslinuxConfiguration(commandLine: string): string {
  return [
    'DEFAULT linux',
    'PROMPT 0',
    'LABEL linux',
    '  LINUX /linux/vmlinuz',
    '  INITRD /linux/initrd.img',
    `  APPEND ${commandLine}`,
    '',
  ].join('\n');
}

async function makeRootPartition(
  file: string,
  packages: string,
  identity: DiskIdentity,
  options: RawOptions,
): Promise<void> {
  const { kernelRelease } = options.inputs;
  const busybox = path.join(packages, 'usr/bin/busybox');
  const modules = await moduleTree({ modules: systemModules, packages, kernelRelease, busybox });
  const { ref, hostname, kind } = options;
  await makeExt4({
    file,
    sizeBytes: rootBytes[options.kind],
    uuid: identity.rootFileSystem,
    label: 'root',
    tree: await rootTree({ ref, hostname, kind, identity, packages, modules }),
    scratch: path.join(options.directory, 'root'),
  });
}
