import { settledDisks } from '../disks/settled.ts';
import { listDisks } from '../disks/sysfs.ts';
import { readInventory } from '../inventory/read.ts';
import type { Step } from './index.ts';

/** Tells what the machine is made of, once no more disks turn up. */
export const inventoryRefresh: Step<'inventory.refresh'> = async (_input, { signal }) => ({
  result: { sections: await readInventory('/', () => settledDisks(() => listDisks(), { signal })) },
});
