import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { isENOENT } from '#base/errors.ts';

/**
 * What tells one state of a file from another without reading it. Size and modification time alone do not: `touch -r`, `rsync -t` and a
 * restored backup keep both. The inode's number and change time are the kernel's.
 */
export interface FileStamp {
  sizeBytes: number;
  mtimeNs: bigint;
  ctimeNs: bigint;
  ino: bigint;
}

export function stampOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): FileStamp {
  return { sizeBytes: Number(size), mtimeNs, ctimeNs, ino };
}

export function sameStamp(one: FileStamp, other: FileStamp): boolean {
  return (
    one.sizeBytes === other.sizeBytes &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs &&
    one.ino === other.ino
  );
}

/** Of what lies under a name, whatever it is; undefined when nothing does. @throws the file system's error */
export async function stampAt(file: string): Promise<FileStamp | undefined> {
  try {
    return stampOf(await lstat(file, { bigint: true }));
  } catch (error) {
    if (isENOENT(error)) return undefined;
    throw error;
  }
}
