import { createHash } from 'node:crypto';
import { constants, type FileHandle } from 'node:fs/promises';
import { systemCode } from '#base/errors.ts';
import { alignedBuffer } from '#base/libc.ts';
import { openRegular } from './openRegular.ts';

const blockBytes = 1024 * 1024;

export interface HashOptions {
  /**
   * Reads from the disk itself, where its file system can do that: what the kernel has in memory hides what the disk has lost, and a file that
   * is only checked should not push out those that are served.
   */
  direct?: boolean;
  /** Called after each block with its length. */
  onRead?: (bytes: number) => void;
  /** The same, and waited for: a bound on the rate, a way to stop. */
  pace?: (bytes: number) => Promise<void> | void;
}

/**
 * sha256 of a file in lower-case hex, through one buffer whatever its size.
 * @throws OddFile, the file system's error, e.g. EIO, and what `pace` throws
 */
export async function hashFile(
  file: string,
  { direct = false, onRead, pace }: HashOptions = {},
): Promise<string> {
  const hash = createHash('sha256');
  const handle = direct ? await openDirect(file) : (await openRegular(file)).handle;
  const buffer = direct ? alignedBuffer(blockBytes) : Buffer.allocUnsafe(blockBytes);
  try {
    for (let position = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
      position += bytesRead;
      onRead?.(bytesRead);
      await pace?.(bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** open(2): EINVAL means that the file system has no direct I/O, as tmpfs in older kernels. */
async function openDirect(file: string): Promise<FileHandle> {
  try {
    return (await openRegular(file, constants.O_DIRECT)).handle;
  } catch (error) {
    if (systemCode(error) !== 'EINVAL') throw error;
    return (await openRegular(file)).handle;
  }
}
