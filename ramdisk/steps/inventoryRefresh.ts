import type { InventoryResult } from '#contract/inventory.ts';
import { settledDisks } from '../disks/settled.ts';
import { listDisks } from '../disks/sysfs.ts';
import { readInventory } from '../inventory/read.ts';
import type { Step } from './index.ts';

/** Tells what the machine is made of, once no more disks turn up. */
export const inventoryRefresh: Step<'inventory.refresh'> = async (_input, { signal }) => {
  const sections = await readInventory('/', () => settledDisks(() => listDisks(), { signal }));
  const result: InventoryResult = { sections };
  return { result: { ...result } };
};
