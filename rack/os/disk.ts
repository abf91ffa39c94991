import { createReadStream } from 'node:fs';
import { type FileHandle, open, truncate, writeFile } from 'node:fs/promises';
import { run } from '#base/command.ts';
import type { DiskIdentity } from './identity.ts';

const mebibyte = 1024 * 1024;
const sector = 512;

export const espLayout = { startBytes: mebibyte, sizeBytes: 64 * mebibyte };
const rootStartBytes = 65 * mebibyte;

/** What runs on the OS decides how big its root partition is: our `bcd` brings a Node of its own. */
export const rootBytes = { plain: 64 * mebibyte, host: 448 * mebibyte } as const;
export type OsKind = keyof typeof rootBytes;

/** The smallest disk that holds both partitions and the backup partition table. */
export function smallestDisk(kind: OsKind): number {
  return rootStartBytes + rootBytes[kind] + mebibyte;
}

export interface DiskOptions {
  file: string;
  /** Not necessarily a multiple of a sector; the partition table ends at the last whole one. */
  sizeBytes: number;
  identity: DiskIdentity;
  kind: OsKind;
  esp: string;
  root: string;
  /** syslinux' boot code for the protective MBR (440 bytes), which starts the partition marked as legacy-bootable. */
  bootCode: Buffer;
}

/** A GPT disk as a sparse file: the ESP, which a BIOS boots as well, and the root partition. */
export async function makeDisk(options: DiskOptions): Promise<void> {
  const { file, sizeBytes } = options;
  await writeFile(file, '');
  await truncate(file, sizeBytes - (sizeBytes % sector));
  await run('sgdisk', [...partitionArguments(options), file]);
  await truncate(file, sizeBytes);
  const disk = await open(file, 'r+');
  try {
    await disk.write(options.bootCode, 0, Math.min(options.bootCode.length, 440), 0);
    await copySparsely(options.esp, disk, espLayout.startBytes);
    await copySparsely(options.root, disk, rootStartBytes);
    await disk.sync();
  } finally {
    await disk.close();
  }
}

/** Attribute bit 2 is "legacy BIOS bootable" (UEFI 2.10, table 5.8). */
function partitionArguments({ identity, kind }: DiskOptions): string[] {
  const rootLayout = { startBytes: rootStartBytes, sizeBytes: rootBytes[kind] };
  const at = ({ startBytes, sizeBytes }: typeof espLayout): string =>
    `${startBytes / sector}:+${sizeBytes / mebibyte}M`;
  const esp = ['-n', `1:${at(espLayout)}`, '-t', '1:ef00', '-c', '1:ESP', '-u', `1:${identity.espPartition}`];
  const root = [
    '-n',
    `2:${at(rootLayout)}`,
    '-t',
    '2:8304',
    '-c',
    '2:root',
    '-u',
    `2:${identity.rootPartition}`,
  ];
  return ['-o', ...esp, '-A', '1:set:2', ...root, '-U', identity.disk];
}

/** Blocks of zeros stay holes, so that image and cache take no more room than their content. */
async function copySparsely(source: string, target: FileHandle, startBytes: number): Promise<void> {
  let position = startBytes;
  for await (const chunk of createReadStream(source, { highWaterMark: 64 * 1024 })) {
    const bytes = chunk as Buffer;
    if (!isZero(bytes)) await target.write(bytes, 0, bytes.length, position);
    position += bytes.length;
  }
}

function isZero(bytes: Buffer): boolean {
  return bytes.equals(Buffer.alloc(bytes.length));
}
