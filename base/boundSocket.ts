import { getSystemErrorName } from 'node:util';
import koffi from 'koffi';
import { addressFamily, socketAddress } from './udp/socketAddress.ts';

/** Opened at the first call, so that importing this file costs nothing where no socket is bound. */
let library: ReturnType<typeof openLibrary> | undefined;

/** Values of Linux on every architecture that we run on (asm-generic/socket.h). */
const linux = {
  SOCK_DGRAM: 2,
  SOCK_NONBLOCK: 0o4000,
  SOCK_CLOEXEC: 0o2000000,
  SOL_SOCKET: 1,
  SO_BROADCAST: 6,
  SO_BINDTODEVICE: 25,
  SOL_IPV6: 41,
  IPV6_V6ONLY: 26,
} as const;

/**
 * A UDP socket on `port` of every address that hears one interface alone, broadcasts and multicasts included, and sends out of it: for
 * `dgram`'s `bind({ fd })`. A socket bound to the interface's address would hear neither, and Node cannot bind to a device.
 * Since Linux 5.7 this needs no privilege beyond that for the port.
 * @throws Error with a system `code`, e.g. ENODEV, EADDRINUSE, EACCES
 */
export function openInterfaceSocket(
  interfaceName: string,
  port: number,
  family: 'ipv4' | 'ipv6' = 'ipv4',
): number {
  library ??= openLibrary();
  const { bind, close, setsockopt, socket } = library;
  const kind = linux.SOCK_DGRAM | linux.SOCK_NONBLOCK | linux.SOCK_CLOEXEC;
  const fd = checked('socket', socket(addressFamily[family], kind, 0));
  const set = (what: string, [level, name]: readonly [number, number], value: Buffer) =>
    checked(what, setsockopt(fd, level, name, value, value.length));
  const on = Buffer.from([1, 0, 0, 0]);
  try {
    // A socket of both families would take the port of the IPv4 one.
    if (family === 'ipv4') set('broadcast', [linux.SOL_SOCKET, linux.SO_BROADCAST], on);
    else set('IPv6 only', [linux.SOL_IPV6, linux.IPV6_V6ONLY], on);
    const device = Buffer.from(`${interfaceName}\0`);
    set(`bind to ${interfaceName}`, [linux.SOL_SOCKET, linux.SO_BINDTODEVICE], device);
    const address = socketAddress(family === 'ipv4' ? '0.0.0.0' : '::', port);
    checked(`bind to port ${port}`, bind(fd, address, address.length));
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

function checked(what: string, result: number): number {
  if (result >= 0) return result;
  const code = getSystemErrorName(-koffi.errno());
  throw Object.assign(new Error(`${what}: ${code}`), { code });
}
