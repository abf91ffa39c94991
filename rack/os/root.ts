import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import type { OsKind } from './disk.ts';
import { type DiskIdentity, fatUuid } from './identity.ts';
import { librariesOf } from './libraries.ts';
import { completeTree, directory, file, overlay, symlink, type TreeEntry } from './tree.ts';

export interface RootOptions {
  ref: string;
  hostname: string;
  kind: OsKind;
  identity: DiskIdentity;
  packages: string;
  modules: readonly TreeEntry[];
}

/** The root file system: busybox, a TLS client that verifies, our scripts, and what tells this image from others. */
export async function rootTree(options: RootOptions): Promise<TreeEntry[]> {
  const { packages, modules } = options;
  return completeTree([
    ...emptyDirectories(),
    ...(await busyboxEntries(path.join(packages, 'usr/bin/busybox'))),
    ...(await programs(options)),
    ...modules,
    ...overlay(path.join(import.meta.dirname, 'files/root')),
    ...imageFacts(options),
  ]);
}

function emptyDirectories(): TreeEntry[] {
  const plain = [
    'boot/efi',
    'dev',
    'mnt',
    'proc',
    'run',
    'sys',
    'usr/local/bin',
    'var/lib/railhead',
    'var/log',
  ];
  return [...plain.map((at) => directory(at)), directory('tmp', 0o1777), directory('root', 0o700)];
}

async function busyboxEntries(busybox: string): Promise<TreeEntry[]> {
  const applets = (await run(busybox, ['--list'])).split('\n').filter((name) => /^[a-z0-9_-]+$/.test(name));
  const links = applets.filter((name) => name !== 'busybox').map((name) => symlink(`bin/${name}`, 'busybox'));
  const administration = ['init', 'modprobe', 'poweroff', 'reboot'].map((name) =>
    symlink(`sbin/${name}`, '../bin/busybox'),
  );
  return [file('bin/busybox', await readFile(busybox), 0o755), ...links, ...administration];
}

/**
 * GNU wget: busybox has one too, which does not check the server's certificate. It is the smallest sound one that Debian has. A host
 * has curl, which the shipped user data calls, and the libraries of the `bcd` executable, which are those of the Node that runs here.
 */
async function programs({ kind, packages }: RootOptions): Promise<TreeEntry[]> {
  const names = kind === 'host' ? ['wget', 'curl'] : ['wget'];
  const files = names.map((name) => path.join(packages, 'usr/bin', name));
  const libraries = await librariesOf(kind === 'host' ? [...files, process.execPath] : files, packages);
  const copy = async (to: string, source: string) => file(to, await readFile(source), 0o755);
  return [
    ...(await Promise.all(
      libraries.map((library) =>
        copy(`lib/x86_64-linux-gnu/${path.basename(library)}`, path.join(packages, library)),
      ),
    )),
    ...(await Promise.all(files.map((source) => copy(`usr/bin/${path.basename(source)}`, source)))),
    symlink('lib64', 'lib/x86_64-linux-gnu'),
  ];
}

function imageFacts({ ref, hostname, identity }: RootOptions): TreeEntry[] {
  const [name = ref, version = ''] = ref.split('@');
  return [
    file('etc/railhead/image-ref', `${ref}\n`),
    file('etc/hostname', `${hostname}\n`),
    file('etc/hosts', '127.0.0.1 localhost\n'),
    file('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n'),
    file('etc/group', 'root:x:0:\n'),
    file('etc/fstab', fstab(identity)),
    file('etc/os-release', osRelease(name, version)),
  ];
}

function fstab(identity: DiskIdentity): string {
  return [
    `UUID=${identity.rootFileSystem} / ext4 rw 0 1`,
    `UUID=${fatUuid(identity.espVolume)} /boot/efi vfat noauto,rw,umask=077 0 0`,
    '',
  ].join('\n');
}

export function osRelease(name: string, version: string): string {
  return [
    'NAME="Railhead demo OS"',
    'ID=railhead-demo',
    `PRETTY_NAME="Railhead demo OS ${name} ${version}"`,
    `IMAGE_ID="${name}"`,
    `IMAGE_VERSION="${version}"`,
    '',
  ].join('\n');
}
