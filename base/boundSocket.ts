import { checked } from './systemCall.ts';
import { type addressFamily, socketAddress } from './udp/socketAddress.ts';
import { openUdpSocket, socketCalls } from './udp/socketCalls.ts';

/** Values of Linux on every architecture that we run on (asm-generic/socket.h). */
const linux = {
  SOL_SOCKET: 1,
  SO_REUSEADDR: 2,
  SO_BROADCAST: 6,
  SO_BINDTODEVICE: 25,
  SO_RCVBUFFORCE: 33,
  SOL_IPV6: 41,
  IPV6_V6ONLY: 26,
} as const;

type Family = keyof typeof addressFamily;

/** Some thousands of datagrams: what waits while the process commits to its disk. */
const receiveBytes = 4 * 2 ** 20;

/**
 * A UDP socket on `port` of every address that hears one interface alone, broadcasts and multicasts included, and sends out of it: for
 * `dgram`'s `bind({ fd })`. A socket bound to the interface's address would hear neither, and Node cannot bind to a device.
 * Since Linux 5.7 this needs no privilege beyond that for the port.
 * @throws Error with a system `code`, e.g. ENODEV, EADDRINUSE, EACCES
 */
export function openInterfaceSocket(interfaceName: string, port: number, family: Family = 'ipv4'): number {
  const fd = openOn(interfaceName, family);
  try {
    bindTo(fd, family === 'ipv4' ? '0.0.0.0' : '::', port);
  } catch (error) {
    socketCalls().close(fd);
    throw error;
  }
  return fd;
}

/**
 * Two sockets of one interface and port: the first as `openInterfaceSocket` opens it, the second bound to our IPv4 address there, for
 * what is sent to it; what that one sends has the address as its source, where the first takes the interface's first address.
 * @throws Error with a system `code`, EADDRNOTAVAIL when the address is not ours
 */
export function openInterfaceSockets(interfaceName: string, port: number, address: string): [number, number] {
  // Bound while it shares with nobody: another server on this port is found out.
  const everything = openInterfaceSocket(interfaceName, port);
  const opened = [everything];
  try {
    const own = openOn(interfaceName, 'ipv4');
    opened.push(own);
    share([everything, own], true);
    bindTo(own, address, portOf(everything));
    share([everything, own], false);
    return [everything, own];
  } catch (error) {
    for (const fd of opened) socketCalls().close(fd);
    throw error;
  }
}

function openOn(interfaceName: string, family: Family): number {
  const { setsockopt } = socketCalls();
  return openUdpSocket(family, (fd) => {
    // A socket of both families would take the port of the IPv4 one.
    if (family === 'ipv4') setNumber(fd, [linux.SOL_SOCKET, linux.SO_BROADCAST], 1);
    else setNumber(fd, [linux.SOL_IPV6, linux.IPV6_V6ONLY], 1);
    const device = Buffer.from(`${interfaceName}\0`);
    const bound = setsockopt(fd, linux.SOL_SOCKET, linux.SO_BINDTODEVICE, device, device.length);
    checked(`bind to ${interfaceName}`, bound);
    // Beyond the system's limit for root alone; systemd's sockets have it from their unit.
    setsockopt(fd, linux.SOL_SOCKET, linux.SO_RCVBUFFORCE, number32(receiveBytes), 4);
  });
}

function bindTo(fd: number, address: string, port: number): void {
  const place = socketAddress(address, port);
  checked(`bind to ${address}, port ${port}`, socketCalls().bind(fd, place, place.length));
}

/** Whether other sockets may be bound to the same port: asked of both when the later one is bound (socket(7)). */
function share(fds: readonly number[], allowed: boolean): void {
  for (const fd of fds) setNumber(fd, [linux.SOL_SOCKET, linux.SO_REUSEADDR], allowed ? 1 : 0);
}

function portOf(fd: number): number {
  const address = Buffer.alloc(16);
  checked('getsockname', socketCalls().getsockname(fd, address, number32(16)));
  return address.readUInt16BE(2);
}

function setNumber(fd: number, [level, name]: readonly [number, number], value: number): void {
  checked('setsockopt', socketCalls().setsockopt(fd, level, name, number32(value), 4));
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
