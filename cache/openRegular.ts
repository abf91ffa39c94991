import { constants, type FileHandle, open } from 'node:fs/promises';
import { systemCode } from '#base/errors.ts';
import { type FileStamp, stampOf } from './stamp.ts';

/** Under an artifact's name lies no file: a folder, a link, a pipe, a device. */
class OddFile extends Error {}

/**
 * Opens a file for reading, if it is one: a pipe is not waited for, a link is not followed.
 * @throws OddFile, or the file system's error
 */
export async function openRegular(
  file: string,
  flags = 0,
): Promise<{ handle: FileHandle; stamp: FileStamp }> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | flags);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw new OddFile(`${file} is no regular file`);
    return { handle, stamp: stampOf(stats) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The machine is short of something; the file is as good as before. */
const shortage = ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'EINTR'];

/**
 * Why a file gives nobody its bytes: the system's error, or that it is none. Undefined when `error` says nothing of the file itself, or that
 * it is not there.
 */
export function faultOfFile(error: unknown): string | undefined {
  if (error instanceof OddFile) return 'no regular file';
  const code = systemCode(error);
  if (code === undefined || !(error instanceof Error && 'syscall' in error)) return undefined;
  return code === 'ENOENT' || shortage.includes(code) ? undefined : code;
}
