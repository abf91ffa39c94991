import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';
import { known } from '#base/known.ts';
import { canonicalMac } from '#contract/bootEntry.ts';
import type { NicInventory } from '#contract/inventory.ts';
import { factOf, linkName } from './text.ts';

/** ARPHRD_ETHER and ARPHRD_INFINIBAND of linux/if_arp.h. */
const networkTypes = ['1', '32'];

/** The NICs with hardware behind them, by name: bridges, bonds and tunnels are none. */
export async function readNics(root = '/'): Promise<NicInventory[]> {
  const directory = path.join(root, 'sys/class/net');
  const names = ((await readdir(directory).catch(ignore)) ?? []).sort();
  const nics = await Promise.all(names.map((name) => readNic(path.join(directory, name), name)));
  return nics.filter((nic) => nic !== undefined);
}

async function readNic(directory: string, name: string): Promise<NicInventory | undefined> {
  const device = await readlink(path.join(directory, 'device')).catch(ignore);
  if (device === undefined) return undefined;
  if (!networkTypes.includes((await factOf(path.join(directory, 'type'))) ?? '')) return undefined;
  const address = await addressOf(directory);
  const pci = /[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/.exec(device)?.[0];
  const [driver, vendorId, deviceId, speedMbps] = await Promise.all([
    linkName(path.join(directory, 'device/driver')),
    factOf(path.join(directory, 'device/vendor')),
    factOf(path.join(directory, 'device/device')),
    speedOf(directory),
  ]);
  return {
    name,
    mac: canonicalMac(address) ?? address,
    linkUp: (await factOf(path.join(directory, 'carrier'))) === '1',
    ...known({ driver, pciAddress: pci, vendorId, deviceId, speedMbps }),
  };
}

/** The NIC's own address: a bond gives its members the address of one of them for as long as they are in it. */
async function addressOf(directory: string): Promise<string> {
  const own = await factOf(path.join(directory, 'bonding_slave/perm_hwaddr'));
  return own ?? (await factOf(path.join(directory, 'address'))) ?? '';
}

/** A NIC without a link says -1 or refuses to say. */
async function speedOf(directory: string): Promise<number | undefined> {
  const speed = Number(await readFile(path.join(directory, 'speed'), 'utf8').catch(() => '-1'));
  return Number.isInteger(speed) && speed > 0 ? speed : undefined;
}
