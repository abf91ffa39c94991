import { getSystemErrorName } from 'node:util';
import koffi from 'koffi';

/** Opened at the first call, so that importing this file costs nothing where no socket is bound. */
let library: ReturnType<typeof openLibrary> | undefined;

/** Values of Linux on every architecture that we run on (asm-generic/socket.h). */
const linux = {
  AF_INET: 2,
  SOCK_DGRAM: 2,
  SOCK_NONBLOCK: 0o4000,
  SOCK_CLOEXEC: 0o2000000,
  SOL_SOCKET: 1,
  SO_BROADCAST: 6,
  SO_BINDTODEVICE: 25,
} as const;

/**
 * A UDP socket on 0.0.0.0:`port` that hears one interface alone, broadcasts included, and sends out of it: for `dgram`'s
 * `bind({ fd })`. A socket bound to the interface's address would hear no broadcast, and Node cannot bind to a device.
 * Since Linux 5.7 this needs no privilege beyond that for the port.
 * @throws Error with a system `code`, e.g. ENODEV, EADDRINUSE, EACCES
 */
export function openInterfaceSocket(interfaceName: string, port: number): number {
  library ??= openLibrary();
  const { bind, close, setsockopt, socket } = library;
  const fd = checked(
    'socket',
    socket(linux.AF_INET, linux.SOCK_DGRAM | linux.SOCK_NONBLOCK | linux.SOCK_CLOEXEC, 0),
  );
  try {
    const on = Buffer.from([1, 0, 0, 0]);
    checked('setsockopt', setsockopt(fd, linux.SOL_SOCKET, linux.SO_BROADCAST, on, on.length));
    const device = Buffer.from(`${interfaceName}\0`);
    checked(
      `bind to ${interfaceName}`,
      setsockopt(fd, linux.SOL_SOCKET, linux.SO_BINDTODEVICE, device, device.length),
    );
    checked(`bind to port ${port}`, bind(fd, anyAddress(port), 16));
  } catch (error) {
    close(fd);
    throw error;
  }
  return fd;
}

function openLibrary() {
  const libc = koffi.load('libc.so.6');
  return {
    socket: libc.func('int socket(int domain, int type, int protocol)'),
    setsockopt: libc.func('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)'),
    bind: libc.func('int bind(int fd, const void *address, uint32_t length)'),
    close: libc.func('int close(int fd)'),
  };
}

/** struct sockaddr_in of 0.0.0.0; the port alone is in network order. */
function anyAddress(port: number): Buffer {
  const address = Buffer.alloc(16);
  address.writeUInt16LE(linux.AF_INET, 0);
  address.writeUInt16BE(port, 2);
  return address;
}

function checked(what: string, result: number): number {
  if (result >= 0) return result;
  const code = getSystemErrorName(-koffi.errno());
  throw Object.assign(new Error(`${what}: ${code}`), { code });
}
