import { constants, type FileHandle, open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode } from '#base/errors.ts';
import {
  alignedBuffer,
  blockDeviceSize,
  logicalSectorSize,
  rereadPartitionTable,
  SystemCallFailed,
  zeroOut,
} from '#base/libc.ts';
import { RailheadError } from '#contract/errors.ts';

/** An opened disk, ours alone. Buffers, offsets and lengths are multiples of the sector size and the buffers aligned (`alignedBuffer`). */
export interface Target {
  path: string;
  sizeBytes: number;
  sectorSize: number;
  write(buffer: Buffer, offset: number): Promise<void>;
  read(buffer: Buffer, offset: number): Promise<void>;
  /** Makes a range read as zeros. */
  zero(offset: number, length: number): Promise<void>;
  /** Resolves once all that was written is on stable storage. */
  sync(): Promise<void>;
  /** Has the kernel see the partitions that the disk has now. */
  rereadPartitions(): Promise<void>;
  close(): Promise<void>;
}

const { O_RDWR, O_EXCL, O_DIRECT } = constants;

/**
 * Opens a block device for direct writing. O_EXCL is the kernel's own word that nothing else holds it or a partition of it. A regular
 * file is taken as a disk of its size with sectors of 512 bytes.
 * @throws RailheadError INVALID_STATE (`reason` in-use, read-only) or DRIVER_ERROR
 */
export async function openTarget(path: string): Promise<Target> {
  const handle = await open(path, O_RDWR | O_EXCL | O_DIRECT).catch((error: unknown) => {
    throw openError(path, error);
  });
  try {
    return await targetOf(path, handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function targetOf(path: string, handle: FileHandle): Promise<Target> {
  const status = await handle.stat();
  const isDevice = status.isBlockDevice();
  const { fd } = handle;
  const zero = zeroer(path, handle, isDevice);
  return {
    path,
    sizeBytes: isDevice ? blockDeviceSize(fd) : status.size,
    sectorSize: isDevice ? logicalSectorSize(fd) : 512,
    write: (buffer, offset) => writeAll(path, handle, buffer, offset),
    read: (buffer, offset) => readAll(path, handle, buffer, offset),
    zero,
    sync: () => handle.sync().catch((error: unknown) => throwWriteError(path, error)),
    rereadPartitions: async () => {
      if (isDevice) await rereadWhenFree(fd);
    },
    close: () => handle.close(),
  };
}

/** Only BLKZEROOUT promises zeros; discard does not. Where the device refuses it, zeros are written. */
function zeroer(path: string, handle: FileHandle, isDevice: boolean): Target['zero'] {
  let byKernel = isDevice;
  const zeros = alignedZeros();
  return async (offset, length) => {
    if (byKernel) {
      try {
        return await zeroOut(handle.fd, offset, length);
      } catch (error) {
        if (!(error instanceof SystemCallFailed)) throw error;
        byKernel = false;
      }
    }
    for (let done = 0; done < length; done += zeros.length)
      await writeAll(path, handle, zeros.subarray(0, Math.min(zeros.length, length - done)), offset + done);
  };
}

async function writeAll(path: string, handle: FileHandle, buffer: Buffer, offset: number): Promise<void> {
  for (let done = 0; done < buffer.length; ) {
    const left = buffer.subarray(done);
    const { bytesWritten } = await handle
      .write(left, 0, left.length, offset + done)
      .catch((error: unknown) => throwWriteError(path, error));
    if (bytesWritten === 0) throwWriteError(path, new Error('the device takes no more bytes'));
    done += bytesWritten;
  }
}

async function readAll(path: string, handle: FileHandle, buffer: Buffer, offset: number): Promise<void> {
  for (let done = 0; done < buffer.length; ) {
    const { bytesRead } = await handle.read(buffer, done, buffer.length - done, offset + done);
    if (bytesRead === 0) throw diskError(path, 'end', `it ends at byte ${offset + done}`);
    done += bytesRead;
  }
}

const EBUSY = 16;
const EINVAL = 22;

/** EBUSY passes by itself when something only looks at the new partitions; EINVAL is a device that has none (a loop device without partscan). */
async function rereadWhenFree(fd: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      rereadPartitionTable(fd);
      return;
    } catch (error) {
      if (!(error instanceof SystemCallFailed)) throw error;
      if (error.errno === EINVAL) return;
      if (error.errno !== EBUSY || tries === 20) throw error;
      await delay(100);
    }
  }
}

function alignedZeros(): Buffer {
  return alignedBuffer(1024 * 1024).fill(0);
}

function openError(path: string, error: unknown): RailheadError {
  const code = systemCode(error);
  const state = (reason: string, what: string) =>
    new RailheadError('INVALID_STATE', `${path} cannot be written: ${what}`, { path: 'disk', reason }, error);
  if (code === 'EBUSY') return state('in-use', 'the kernel says that it, or a partition of it, is in use');
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return state('read-only', 'it is read-only');
  return diskError(path, code ?? 'open', (error as Error).message, error);
}

function throwWriteError(path: string, error: unknown): never {
  throw diskError(path, systemCode(error) ?? 'write', (error as Error).message, error);
}

function diskError(path: string, reason: string, what: string, cause?: unknown): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the disk ${path} failed: ${what}`,
    { device: path, reason },
    cause,
  );
}
