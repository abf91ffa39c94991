import { isIPv6 } from 'node:net';
import { checked } from '../systemCall.ts';
import { socketAddress } from './socketAddress.ts';
import { openUdpSocket, socketCalls } from './socketCalls.ts';

/** The socket option that decides about Don't Fragment, its level and its value for "never": ip(7), ipv6(7), in.h, in6.h. */
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
  const { bind, setsockopt } = socketCalls();
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  return openUdpSocket(family, (fd) => {
    const { level, option } = mayFragment[family];
    const value = Buffer.from([IP_PMTUDISC_DONT, 0, 0, 0]);
    checked('setsockopt', setsockopt(fd, level, option, value, value.length));
    const local = socketAddress(address, 0);
    checked(`bind to ${address}`, bind(fd, local, local.length));
  });
}
