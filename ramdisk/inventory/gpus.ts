import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';
import { known } from '#base/known.ts';
import type { GpuInventory } from '#contract/inventory.ts';
import { factOf, linkName } from './text.ts';

/** Display controllers of PCI: VGA (0x0300), XGA, 3D (0x0302) and others of class 0x03. */
export async function readGpus(root = '/'): Promise<GpuInventory[]> {
  const directory = path.join(root, 'sys/bus/pci/devices');
  const addresses = ((await readdir(directory).catch(ignore)) ?? []).sort();
  const gpus = await Promise.all(addresses.map((address) => readGpu(path.join(directory, address), address)));
  return gpus.filter((gpu) => gpu !== undefined);
}

async function readGpu(directory: string, pciAddress: string): Promise<GpuInventory | undefined> {
  const deviceClass = await factOf(path.join(directory, 'class'));
  if (deviceClass === undefined || !/^0x03/.test(deviceClass)) return undefined;
  return {
    pciAddress,
    vendorId: (await factOf(path.join(directory, 'vendor'))) ?? '0x0000',
    deviceId: (await factOf(path.join(directory, 'device'))) ?? '0x0000',
    ...known({ driver: await linkName(path.join(directory, 'driver')) }),
  };
}
