import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';
import type { TransferLimits } from './negotiate.ts';

/** IP (20 or 40), UDP (8) and TFTP (4) headers: a block must not be fragmented, since much firmware cannot join fragments. */
const headerBytes = { ipv4: 32, ipv6: 52 } as const;
export type IpFamily = keyof typeof headerBytes;

/** What Ethernet carries; nothing larger is offered on jumbo networks, for the same reason. */
const mostBlockBytes = 1468;
/** Beyond this a window gains nothing on a LAN, and small receive buffers overflow. */
const mostWindow = 32;

/** What to agree to on an interface, by its MTU, with clients of one IP version. */
export async function transferLimits(
  interfaceName: string,
  family: IpFamily = 'ipv4',
): Promise<TransferLimits> {
  const text = await readFile(path.join('/sys/class/net', interfaceName, 'mtu'), 'utf8').catch(ignore);
  const mtu = Number(text ?? 1500);
  return { blockSize: blockSizeFor(mtu, family), windowSize: mostWindow };
}

export function blockSizeFor(mtu: number, family: IpFamily = 'ipv4'): number {
  return Math.max(8, Math.min(mostBlockBytes, mtu - headerBytes[family]));
}
