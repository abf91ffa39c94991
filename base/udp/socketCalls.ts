import koffi from 'koffi';
import { checked } from '../systemCall.ts';
import { addressFamily } from './socketAddress.ts';

/** Values of Linux on every architecture that we run on (asm-generic/socket.h). */
const linux = { SOCK_DGRAM: 2, SOCK_NONBLOCK: 0o4000, SOCK_CLOEXEC: 0o2000000 } as const;

/** Opened at the first call, so that importing this file costs nothing where no socket is opened. */
let library: ReturnType<typeof openLibrary> | undefined;

function openLibrary() {
  const libc = koffi.load('libc.so.6');
  return {
    socket: libc.func('int socket(int domain, int type, int protocol)'),
    setsockopt: libc.func('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)'),
    bind: libc.func('int bind(int fd, const void *address, uint32_t length)'),
    getsockname: libc.func('int getsockname(int fd, void *address, void *length)'),
    close: libc.func('int close(int fd)'),
  };
}

/** The calls of libc about sockets. */
export function socketCalls(): ReturnType<typeof openLibrary> {
  library ??= openLibrary();
  return library;
}

/**
 * A UDP socket as `dgram` takes it by `bind({ fd })`, made ready by `prepare`; closed again when that fails.
 * @throws Error with a system `code`, e.g. EMFILE; what `prepare` throws
 */
export function openUdpSocket(family: keyof typeof addressFamily, prepare: (fd: number) => void): number {
  const { close, socket } = socketCalls();
  const kind = linux.SOCK_DGRAM | linux.SOCK_NONBLOCK | linux.SOCK_CLOEXEC;
  const fd = checked('socket', socket(addressFamily[family], kind, 0));
  try {
    prepare(fd);
  } catch (error) {
    close(fd);
    throw error;
  }
  return fd;
}
