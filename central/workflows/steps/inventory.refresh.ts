import { Value } from 'typebox/value';
import { RailheadError } from '#contract/errors.ts';
import { InventoryResult } from '#contract/inventory.ts';
import { noteSecureBoot } from '../../metal/loader.ts';
import { identityMismatch } from '../../metal/machineIdentity.ts';
import { macsOf } from '../../metal/macs.ts';
import { now } from '../../store/store.ts';
import { underClaim } from '../claims.ts';
import { machineAgent } from '../machineAgent.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/**
 * Has the machine tell what it is made of, and keeps it with its node once it is known to be the machine that was enrolled.
 * @throws RailheadError DRIVER_ERROR reason `machine-identity-mismatch` when it is another machine
 */
export async function refreshInventory(run: StepRun): Promise<StepResult> {
  const { store } = run.central;
  const { node_id: nodeId } = run.workflow;
  const result = await relay(run, 'inventory.refresh', async () => ({}), await machineAgent(run));
  if (!Value.Check(InventoryResult, result))
    throw new RailheadError('DRIVER_ERROR', 'the machine does not say what it is made of', {
      reason: 'result-form',
    });
  const { sections: inventory } = result;
  const node = await store
    .selectFrom('nodes')
    .select('uuid')
    .where('node_id', '=', nodeId)
    .executeTakeFirstOrThrow();
  const discovered = (await macsOf(store, nodeId)).filter((row) => row.discovered_at !== null);
  const mismatch = identityMismatch(inventory, {
    uuid: node.uuid,
    discoveredMacs: discovered.map(({ mac }) => mac),
  });
  if (mismatch !== undefined) throw anotherMachine(nodeId, mismatch);
  await underClaim(store, run.workflow, async (queries) => {
    await noteSecureBoot(queries, nodeId, inventory.system.secureBoot);
    await queries
      .updateTable('nodes')
      .set({ inventory: JSON.stringify(inventory), inventory_at: now() })
      .where('node_id', '=', nodeId)
      .execute();
  });
  return result;
}

function anotherMachine(
  nodeId: string,
  mismatch: { what: string; expected: string; found: string[] },
): RailheadError {
  const { what, expected, found } = mismatch;
  const message = `the machine that booted is not the one enrolled as ${nodeId}: its ${what} is not ${expected}; look which machine it is`;
  return new RailheadError('DRIVER_ERROR', message, {
    reason: 'machine-identity-mismatch',
    what,
    expected,
    found,
  });
}
