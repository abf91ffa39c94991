import type { DiskInventory, Inventory } from '#contract/inventory.ts';
import type { Disk } from '../disks/disk.ts';
import { listDisks } from '../disks/sysfs.ts';
import { readGpus } from './gpus.ts';
import { readNics } from './nics.ts';
import { readSystem } from './system.ts';

/** What this machine is made of, as its kernel tells; `root` is `/` but in tests. A section that cannot be read is empty. */
export async function readInventory(
  root = '/',
  disksNow: () => Promise<Disk[]> = () => listDisks(root),
): Promise<Inventory> {
  const [system, nics, disks, gpus] = await Promise.all([
    readSystem(root),
    readNics(root),
    disksNow(),
    readGpus(root),
  ]);
  return { system, nics, disks: disks.map(diskOf), gpus };
}

function diskOf(disk: Disk): DiskInventory {
  const { name, sizeBytes, logicalSectorSize, serial, wwn, model, rotational, removable } = disk;
  return {
    name,
    sizeBytes,
    logicalSectorSize,
    ...(serial !== undefined && { serial }),
    ...(wwn !== undefined && { wwn }),
    ...(model !== undefined && { model }),
    rotational,
    removable,
  };
}
