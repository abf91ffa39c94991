import { getSystemErrorName } from 'node:util';
import koffi from 'koffi';

/** Opened at the first call, so that importing this file costs nothing where nothing is sent. */
let library: ReturnType<typeof openLibrary> | undefined;

/** `asm-generic/errno-base.h` */
const EAGAIN = 11;

function openLibrary() {
  const libc = koffi.load('libc.so.6');
  return {
    sendfile: libc.func('int64_t sendfile64(int out, int in, void *offset, size_t count)'),
    dup: libc.func('int dup(int fd)'),
    close: libc.func('int close(int fd)'),
  };
}

function calls(): ReturnType<typeof openLibrary> {
  library ??= openLibrary();
  return library;
}

/** A socket's descriptor of our own: whoever else closes the socket meanwhile does not make its number another's. */
export interface OwnDescriptor {
  readonly fd: number;
  close(): void;
}

/** @throws Error with a system `code`, e.g. EBADF, EMFILE */
export function ownDescriptor(fd: number): OwnDescriptor {
  const own = calls().dup(fd) as number;
  if (own < 0) throw failed('dup', koffi.errno());
  return { fd: own, close: () => void calls().close(own) };
}

/**
 * Has the kernel send up to `count` bytes of a file, from `position` on, into a socket that does not block (sendfile(2)); nothing is copied into
 * this process. Runs off the main thread.
 * @returns how many went: fewer than asked when the socket is full or the file ends, 0 for one as for the other
 * @throws Error with a system `code`: of the file (EIO) or of the socket (EPIPE, ECONNRESET)
 */
export function sendFile(socketFd: number, fileFd: number, position: number, count: number): Promise<number> {
  const offset = Buffer.alloc(8);
  offset.writeBigInt64LE(BigInt(position));
  return new Promise((resolve, reject) => {
    calls().sendfile.async(socketFd, fileFd, offset, count, (error: unknown, sent: number) => {
      const errno = koffi.errno();
      if (error) reject(error);
      else if (Number(sent) >= 0) resolve(Number(sent));
      else if (errno === EAGAIN) resolve(0);
      else reject(failed('sendfile', errno));
    });
  });
}

function failed(call: string, errno: number): Error {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${call} failed: ${code}`), { code, errno: -errno, syscall: call });
}
