import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';

export interface EspOptions {
  file: string;
  sizeBytes: number;
  /** FAT volume id, 8 hex digits. */
  volumeId: string;
  /** In sectors from the start of the disk: syslinux' boot sector reads the disk, not the partition. */
  startSector: number;
  /** By path in the partition. */
  files: Readonly<Record<string, Buffer>>;
  /** The syslinux installer: a program that writes its loader into a FAT file system in a file. */
  syslinux: string;
  scratch: string;
}

/** What mtools takes for now; without it each build would carry its own time. */
const environment = { ...process.env, SOURCE_DATE_EPOCH: '1767225600', TZ: 'UTC', LC_ALL: 'C' };

/** A FAT32 EFI system partition that a BIOS boots as well: syslinux' loader lies in it, its boot sector in sector 0. */
export async function makeEsp(options: EspOptions): Promise<void> {
  const { file, sizeBytes, volumeId, startSector } = options;
  await writeFile(file, '');
  await truncate(file, sizeBytes);
  const shape = ['-F', '32', '-h', String(startSector)];
  await run('mkfs.vfat', [...shape, '--invariant', '-i', volumeId, '-n', 'ESP', file], { env: environment });
  await copyFiles(options);
  await run(options.syslinux, ['--install', file], { env: environment });
}

async function copyFiles({ file, files, scratch }: EspOptions): Promise<void> {
  await mkdir(scratch, { recursive: true });
  for (const folder of folders(Object.keys(files)))
    await run('mmd', ['-i', file, `::/${folder}`], { env: environment });
  const source = path.join(scratch, 'file');
  for (const [name, content] of Object.entries(files)) {
    await writeFile(source, content);
    await run('mcopy', ['-i', file, source, `::/${name}`], { env: environment });
  }
  await rm(scratch, { recursive: true });
}

/** Every folder that the paths need, parents first. */
function folders(files: readonly string[]): string[] {
  const all = files.flatMap((file) => {
    const parts = file.split('/').slice(0, -1);
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  });
  return [...new Set(all)];
}
