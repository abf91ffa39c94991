import type { InventoryResult } from '#contract/inventory.ts';
import type { ActionOf, OperationInput } from '#contract/operations.ts';
import { runDcgm } from '#ramdisk/diag/dcgm.ts';
import { settledDisks } from '#ramdisk/disks/settled.ts';
import { listDisks } from '#ramdisk/disks/sysfs.ts';
import { readInventory } from '#ramdisk/inventory/read.ts';
import type { VerifiedOperation } from '#ramdisk/operations/verify.ts';

/** What an action is given beside its input. */
export interface ActionContext {
  /** Where `/sys` and `/proc` are: `/` but in tests. */
  root: string;
  progress(phase: string): void;
  /** Aborted when the operation is cancelled or out of time, or the agent ends. */
  signal: AbortSignal;
}

type Act<Action extends ActionOf<'node'>> = (
  input: OperationInput<Action>,
  context: ActionContext,
) => Promise<Record<string, unknown>>;

/** Everything that the agent of a running OS carries out: one that is missing does not compile. */
const actions: { readonly [Action in ActionOf<'node'>]: Act<Action> } = {
  'inventory.refresh': async (_input, { root, signal }) => {
    const disks = () => settledDisks(() => listDisks(root), { signal });
    const result: InventoryResult = { sections: await readInventory(root, disks) };
    return { ...result };
  },
  /** That a test failed is a result, not a failure: the centre decides. */
  'diag.dcgm': async ({ level }, { root, progress, signal }) => {
    progress(`testing the GPUs at level ${level}`);
    return { ...(await runDcgm(level, signal, { root })) };
  },
};

export function act(
  operation: VerifiedOperation<'node'>,
  context: ActionContext,
): Promise<Record<string, unknown>> {
  const perform = actions[operation.action] as Act<typeof operation.action>;
  return perform(operation.input as never, context);
}
