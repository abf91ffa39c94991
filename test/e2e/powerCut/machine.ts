import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { buildExecutable } from '#agent/executable/build.ts';
import { run } from '#base/command.ts';
import { initramfs } from '#rack/os/initramfs.ts';
import { librariesOf } from '#rack/os/libraries.ts';
import { indexModules, moduleTree } from '#rack/os/modules.ts';
import { osPackages, unpacked } from '#rack/os/packages.ts';
import { cpioArchive } from '#ramdisk/image/cpio.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../../../.cache');
const modules = ['virtio_pci', 'virtio_blk', 'crc32c_generic', 'ext4'];

/** What the machine is made of: a kernel, an initrd, a disk with the program, a disk for its cache. */
export interface GuestFiles {
  kernel: string;
  initrd: string;
  program: string;
  data: string;
}

const init = `#!/bin/busybox sh
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
busybox mkdir -p /program /data /tmp
modprobe -a ${modules.join(' ')}
until [ -b /dev/vdb ]; do sleep 0.1; done
mount -t ext4 -o ro /dev/vda /program
mount -t ext4 /dev/vdb /data
busybox ln -s /program/lib /lib64
busybox ip link set lo up
export LD_LIBRARY_PATH=/program/lib
export CYCLE=$(sed -n 's/.*cycle=\\([0-9]*\\).*/\\1/p' /proc/cmdline)
case "$(cat /proc/cmdline)" in *last*) export LAST=1 ;; esac
/program/guest
echo "RAILHEAD-CACHE GONE $?"
sleep 1000
`;

/** Builds the machine in `directory`: Debian's kernel, the guest's program with Node inside, an empty ext4. */
export async function buildGuest(directory: string): Promise<GuestFiles> {
  const { packages: found, kernelRelease } = await osPackages(cacheDirectory, 'host');
  await mkdir(path.join(cacheDirectory, 'os'), { recursive: true });
  const packages = await unpacked(found, cacheDirectory);
  const kernel = path.join(packages, 'boot', `vmlinuz-${kernelRelease}`);
  const initrd = path.join(directory, 'initrd');
  const busybox = path.join(packages, 'usr/bin/busybox');
  await indexModules(packages, kernelRelease);
  const tree = await moduleTree({ modules, packages, kernelRelease, busybox });
  const base = await initramfs(await readFile(busybox), tree);
  // The kernel unpacks one archive over the other, each at a multiple of four bytes: this init goes before that of the OS.
  const own = cpioArchive([{ path: 'init', kind: 'file', mode: 0o755, data: Buffer.from(init) }]);
  await writeFile(initrd, Buffer.concat([base, Buffer.alloc(-base.length & 3), own]));
  const program = await programDisk(directory, packages);
  const data = path.join(directory, 'data.ext4');
  await emptyFile(data, 1024);
  await run('mkfs.ext4', ['-q', '-F', data]);
  return { kernel, initrd, program, data };
}

async function programDisk(directory: string, packages: string): Promise<string> {
  const guest = path.join(import.meta.dirname, 'guest.ts');
  const { file } = await buildExecutable({ cacheDirectory, entry: guest });
  const root = path.join(directory, 'program');
  await mkdir(path.join(root, 'lib'), { recursive: true });
  await copyFile(file, path.join(root, 'guest'));
  for (const library of await librariesOf([file], packages))
    await copyFile(path.join(packages, library), path.join(root, 'lib', path.basename(library)));
  const disk = path.join(directory, 'program.ext4');
  await emptyFile(disk, 256);
  await run('mkfs.ext4', ['-q', '-F', '-d', root, disk]);
  return disk;
}

async function emptyFile(file: string, mebibytes: number): Promise<void> {
  const handle = await open(file, 'w');
  try {
    await handle.truncate(mebibytes * 2 ** 20);
  } finally {
    await handle.close();
  }
}

export interface RunningGuest {
  /** What it has said, without the mark. */
  lines: readonly string[];
  /** Resolves once a line for which `holds` is there; rejects when the machine ends before, or time is up. */
  until(holds: (line: string) => boolean, timeoutMs: number): Promise<void>;
  /** Cuts the power: what the guest's kernel still had in memory is gone. */
  cut(): Promise<void>;
}

/** Powers the machine on. Its disk is written through QEMU to the host's file: what the guest has flushed is there, and nothing else. */
export function powerOn(
  { kernel, initrd, program, data }: GuestFiles,
  cycle: number,
  last: boolean,
): RunningGuest {
  const commandLine = `console=ttyS0 quiet panic=-1 cycle=${cycle}${last ? ' last' : ''}`;
  const machine = spawn(
    'qemu-system-x86_64',
    [
      ['-nodefaults', '-display', 'none', '-no-reboot', '-serial', 'stdio'],
      ['-machine', 'q35,accel=tcg', '-cpu', 'max', '-smp', '1', '-m', '640'],
      ['-kernel', kernel, '-initrd', initrd, '-append', commandLine],
      ['-drive', `if=virtio,format=raw,readonly=on,file=${program}`],
      ['-drive', `if=virtio,format=raw,cache=writeback,file=${data}`],
      ['-device', 'virtio-rng-pci'],
    ].flat(),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  return follow(machine);
}

function follow(machine: ChildProcess): RunningGuest {
  const ended = once(machine, 'exit');
  const lines: string[] = [];
  const said = new EventTarget();
  createInterface({ input: machine.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    lines.push(line.replace(/^.*RAILHEAD-CACHE /, ''));
    said.dispatchEvent(new Event('line'));
  });
  const over = ended.then(() => {
    throw new Error(`the machine ended:\n${lines.slice(-20).join('\n')}`);
  });
  over.catch(() => {});
  return {
    lines,
    until: async (holds, timeoutMs) => {
      const patience = AbortSignal.timeout(timeoutMs);
      while (!lines.some(holds))
        await Promise.race([once(said, 'line', { signal: patience }), over]).catch((error) => {
          throw new Error(`${error}; the machine said:\n${lines.slice(-20).join('\n')}`);
        });
    },
    cut: async () => {
      machine.kill('SIGKILL');
      await ended;
    },
  };
}
