import koffi from 'koffi';

/**
 * The few calls of the C library that Node lacks. Linux with glibc only: the library is opened at the first call, so that
 * importing this file costs nothing elsewhere.
 */
const libc = lazily(() => {
  const library = koffi.load('libc.so.6');
  return {
    ioctl: library.func('int ioctl(int fd, unsigned long request, void *argument)'),
    prctl: library.func(
      'int prctl(int option, unsigned long value, unsigned long, unsigned long, unsigned long)',
    ),
    reboot: library.func('int reboot(int command)'),
    sync: library.func('void sync()'),
    getsockopt: library.func('int getsockopt(int fd, int level, int name, void *value, void *length)'),
    memfd_create: library.func('int memfd_create(const char *name, unsigned int flags)'),
    settimeofday: library.func('int settimeofday(void *time, void *zone)'),
  };
});

/** Block device requests, `linux/fs.h`; the numbers hold on x86-64 and arm64. */
const BLKSSZGET = 0x1268;
const BLKGETSIZE64 = 0x80081272;
const BLKZEROOUT = 0x127f;
const BLKRRPART = 0x125f;

/** `asm-generic/socket.h` */
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;

/** `linux/reboot.h` */
const RB_AUTOBOOT = 0x01234567;

/** `linux/prctl.h` */
const PR_SET_DUMPABLE = 4;

/** A call that the kernel refused; `errno` is its number. */
export class SystemCallFailed extends Error {
  readonly errno: number;

  constructor(call: string, errno: number) {
    super(`${call} failed with errno ${errno}`);
    this.name = 'SystemCallFailed';
    this.errno = errno;
  }
}

/**
 * `size` bytes of memory whose address is a multiple of `alignment`, as O_DIRECT wants it. A Buffer of Node begins where it likes,
 * so a larger one is cut at the first address that fits; its memory does not move.
 */
export function alignedBuffer(size: number, alignment = 4096): Buffer {
  const whole = Buffer.allocUnsafeSlow(size + alignment);
  const beyond = Number(koffi.address(whole) % BigInt(alignment));
  const start = beyond === 0 ? 0 : alignment - beyond;
  return whole.subarray(start, start + size);
}

/** Bytes of the block device behind `fd`. */
export function blockDeviceSize(fd: number): number {
  return Number(answerOf(fd, BLKGETSIZE64, 'BLKGETSIZE64', 8).readBigUInt64LE());
}

/** Bytes of a logical sector (512 or 4096) of the block device behind `fd`. */
export function logicalSectorSize(fd: number): number {
  return answerOf(fd, BLKSSZGET, 'BLKSSZGET', 4).readInt32LE();
}

/**
 * Has the kernel zero a range of a block device, by the device's own zeroing where it has one; when it returns the range reads
 * as zeros. `offset` and `length` are multiples of the sector size. Runs off the main thread.
 * @throws SystemCallFailed, e.g. when the device does not take it
 */
export function zeroOut(fd: number, offset: number, length: number): Promise<void> {
  const range = Buffer.alloc(16);
  range.writeBigUInt64LE(BigInt(offset), 0);
  range.writeBigUInt64LE(BigInt(length), 8);
  return new Promise((resolve, reject) => {
    libc().ioctl.async(fd, BLKZEROOUT, range, (error: unknown, status: number) => {
      if (error) reject(error);
      else if (status !== 0) reject(new SystemCallFailed('BLKZEROOUT', koffi.errno()));
      else resolve();
    });
  });
}

/**
 * Has the kernel read the partition table of a block device again.
 * @throws SystemCallFailed EBUSY when a partition of it is in use, EINVAL when the device cannot have partitions
 */
export function rereadPartitionTable(fd: number): void {
  ioctl(fd, BLKRRPART, 'BLKRRPART', null);
}

/** Writes out what the kernel still holds, then restarts the machine without asking `init`. Needs CAP_SYS_BOOT. */
export function restartNow(): void {
  libc().sync();
  if (libc().reboot(RB_AUTOBOOT) !== 0) throw new SystemCallFailed('reboot', koffi.errno());
}

/** From here on the kernel dumps no core of this process, and lets no process of the same user read its memory (prctl(2), PR_SET_DUMPABLE). */
export function forbidMemoryDumps(): void {
  if (libc().prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) !== 0) throw new SystemCallFailed('prctl', koffi.errno());
}

/** `linux/memfd.h` */
const MFD_CLOEXEC = 1;

/**
 * A descriptor of a file in memory that has no name in any file system (memfd_create(2)): how a secret is handed to a child. Node hands it on as
 * one of `stdio` only, and whoever opened it closes it.
 */
export function openMemoryFile(name: string): number {
  const fd = libc().memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) throw new SystemCallFailed('memfd_create', koffi.errno());
  return fd;
}

/** Sets the system's clock, to the millisecond. Needs CAP_SYS_TIME. */
export function setSystemTime(millisecondsSinceEpoch: number): void {
  const timeval = Buffer.alloc(16);
  timeval.writeBigInt64LE(BigInt(Math.floor(millisecondsSinceEpoch / 1000)), 0);
  timeval.writeBigInt64LE(BigInt(Math.floor(millisecondsSinceEpoch % 1000) * 1000), 8);
  if (libc().settimeofday(timeval, null) !== 0) throw new SystemCallFailed('settimeofday', koffi.errno());
}

/** The user who opened the other end of the Unix socket `fd`, as the kernel says (unix(7)). */
export function peerUser(fd: number): number {
  const credentials = Buffer.alloc(12); // struct ucred: pid, uid, gid
  const length = Buffer.alloc(4);
  length.writeUInt32LE(credentials.length);
  if (libc().getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, length) !== 0)
    throw new SystemCallFailed('SO_PEERCRED', koffi.errno());
  return credentials.readUInt32LE(4);
}

function answerOf(fd: number, request: number, name: string, bytes: number): Buffer {
  const answer = Buffer.alloc(bytes);
  ioctl(fd, request, name, answer);
  return answer;
}

function ioctl(fd: number, request: number, name: string, argument: Buffer | null): void {
  if (libc().ioctl(fd, request, argument) !== 0) throw new SystemCallFailed(name, koffi.errno());
}

function lazily<Value extends object>(open: () => Value): () => Value {
  let opened: Value | undefined;
  return () => {
    opened ??= open();
    return opened;
  };
}
