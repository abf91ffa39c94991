import type { Loader } from '#contract/loader.ts';
import type { Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/**
 * What a machine's UEFI firmware is to be handed: what its operator chose, else shim where Secure Boot is known to be on, since it starts
 * nothing that is not signed. Undefined: its site's own choice.
 */
export function loaderFor(node: Pick<Row<'nodes'>, 'loader' | 'secure_boot'>): Loader | undefined {
  return node.loader ?? (node.secure_boot === 1 ? 'shim' : undefined);
}

/** Keeps what a BMC or a ramdisk told of Secure Boot; one that says nothing changes nothing. */
export async function noteSecureBoot(
  store: Queries,
  nodeId: string,
  isOn: boolean | undefined,
): Promise<void> {
  if (isOn === undefined) return;
  await store
    .updateTable('nodes')
    .set({ secure_boot: isOn ? 1 : 0 })
    .where('node_id', '=', nodeId)
    .execute();
}
