import Type from 'typebox';
import type { Inventory } from '#contract/inventory.ts';
import type { Labels } from '#contract/when.ts';
import { parseJson, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** Labels that operators set, named as a `when` names them. */
export const NodeLabels = Type.Record(
  Type.String({ pattern: '^(?!(in|not)$)[A-Za-z][A-Za-z0-9._/-]{0,127}$' }),
  Type.String({ maxLength: 256 }),
  { additionalProperties: false, maxProperties: 128 },
);

/** PCI vendors whose GPUs are known by name. */
const gpuVendors: Readonly<Record<string, string>> = { '10de': 'nvidia', '1002': 'amd', '8086': 'intel' };

/** What a node is known by in `when`: facts of its record and its inventory, and the labels that operators set, which win. */
export async function nodeLabels(store: Queries, nodeId: string): Promise<Labels> {
  const node = await store
    .selectFrom('nodes')
    .selectAll()
    .where('node_id', '=', nodeId)
    .executeTakeFirstOrThrow();
  const inventory = parseJson<Inventory>(node.inventory);
  return {
    ...recordFacts(node),
    ...(inventory === undefined ? {} : inventoryFacts(inventory)),
    ...parseJson<Labels>(node.labels),
  };
}

function recordFacts({ site_id, pool_id, role }: Row<'nodes'>): Labels {
  return told({ site: site_id, pool: pool_id, role });
}

/** What the machine's newest inventory tells; `gpu.count` is `0` on a machine that is known to have none. */
function inventoryFacts({ system, gpus, disks }: Inventory): Labels {
  const vendors = new Set(gpus.map(({ vendorId }) => vendorOf(vendorId)));
  return told({
    arch: system.architecture,
    firmware: system.bootMode,
    manufacturer: system.manufacturer,
    product: system.product,
    tpm: system.tpm,
    gpu: vendors.size === 1 ? [...vendors][0] : vendors.size > 1 ? 'mixed' : undefined,
    'gpu.count': String(gpus.length),
    'disk.count': String(disks.length),
  });
}

/** `0x10de` and `10de` are one. */
function vendorOf(vendorId: string): string {
  const id = vendorId.toLowerCase().replace(/^0x/, '');
  return gpuVendors[id] ?? id;
}

function told(facts: Record<string, string | null | undefined>): Labels {
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(known) as Record<string, string>;
}
