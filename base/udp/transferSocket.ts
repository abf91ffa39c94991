import { isIPv6 } from 'node:net';
import koffi from 'koffi';
import { checked } from '../systemCall.ts';
import { addressFamily, socketAddress } from './socketAddress.ts';

/** Opened at the first call, so that importing this file costs nothing where no socket is bound. */
let library: ReturnType<typeof openLibrary> | undefined;

/** Values of Linux on every architecture that we run on (asm-generic/socket.h, in.h, in6.h). */
const linux = { SOCK_DGRAM: 2, SOCK_NONBLOCK: 0o4000, SOCK_CLOEXEC: 0o2000000 } as const;
/** The socket option that decides about Don't Fragment, its level and its value for "never": ip(7), ipv6(7). */
const mayFragment = {
  ipv4: { level: 0, option: 10 }, // IPPROTO_IP, IP_MTU_DISCOVER
  ipv6: { level: 41, option: 23 }, // IPPROTO_IPV6, IPV6_MTU_DISCOVER
} as const;
const IP_PMTUDISC_DONT = 0;

/**
 * A UDP socket on `address` and a port of the kernel's choice whose datagrams routers may fragment (no DF): for `dgram`'s
 * `bind({ fd })` and for `sendDatagrams`. Linux would set DF, and on a path with a smaller MTU than ours, such as a tunnel to
 * another subnet, every block would be dropped. Who closes the `dgram` socket closes this one.
 * @throws Error with a system `code`, e.g. EADDRNOTAVAIL, EMFILE
 */
export function openTransferSocket(address: string): number {
  library ??= openLibrary();
  const { bind, close, setsockopt, socket } = library;
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const type = linux.SOCK_DGRAM | linux.SOCK_NONBLOCK | linux.SOCK_CLOEXEC;
  const fd = checked('socket', socket(addressFamily[family], type, 0));
  try {
    const { level, option } = mayFragment[family];
    const value = Buffer.from([IP_PMTUDISC_DONT, 0, 0, 0]);
    checked('setsockopt', setsockopt(fd, level, option, value, value.length));
    const local = socketAddress(address, 0);
    checked(`bind to ${address}`, bind(fd, local, local.length));
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
