import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '#base/command.ts';

/** A block device over a sparse file, or the file alone. */
export interface TestDisk {
  /** `/dev/loop3` */
  path: string;
  /** The file behind it. */
  file: string;
  content(): Promise<Buffer>;
  /** Makes every byte zero. */
  clear(): Promise<void>;
  isClear(): Promise<boolean>;
  remove(): Promise<void>;
}

export interface TestDiskOptions {
  sizeBytes: number;
  sectorSize?: 512 | 4096;
  /** Filled with this byte, so that what was not written shows. */
  fill?: number;
}

export const mayUseLoopDevices = process.getuid?.() === 0;

/** A loop device, with its partitions shown by the kernel. Needs root. */
export async function loopDisk({ sizeBytes, sectorSize = 512, fill }: TestDiskOptions): Promise<TestDisk> {
  const disk = await fileDisk({ sizeBytes, ...(fill !== undefined && { fill }) });
  const device = (await run('losetup', ['-f', '--show', '-P', '-b', String(sectorSize), disk.file])).trim();
  return {
    ...disk,
    path: device,
    clear: () => run('blkdiscard', ['-z', '-f', device]).then(() => {}),
    remove: async () => {
      await run('losetup', ['-d', device]);
      await disk.remove();
    },
  };
}

/** A file that is taken as a disk. */
export async function fileDisk({ sizeBytes, fill }: TestDiskOptions): Promise<TestDisk> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-disk-'));
  const file = path.join(directory, 'disk');
  const handle = await open(file, 'w');
  await handle.truncate(sizeBytes);
  if (fill !== undefined) await handle.write(Buffer.alloc(sizeBytes, fill));
  await handle.close();
  return {
    path: file,
    file,
    content: () => readFile(file),
    clear: async () => {
      const disk = await open(file, 'r+');
      await disk.writeFile(Buffer.alloc(sizeBytes));
      await disk.sync();
      await disk.close();
    },
    isClear: async () => (await readFile(file)).every((byte) => byte === 0),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Whether the kernel shows the partitions of an image with a GPT; one may be built without. */
export async function kernelReadsGpt(image: string): Promise<boolean> {
  const device = (await run('losetup', ['-f', '--show', '-P', '-r', image])).trim();
  const names = await readdir(path.join('/sys/block', path.basename(device)));
  await run('losetup', ['-d', device]);
  return names.includes(`${path.basename(device)}p1`);
}
