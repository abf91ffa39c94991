import type { Addressee } from '../agents/addressees.ts';
import { findSpec } from '../agents/nodeSpec.ts';
import { findOperation } from '../agents/operations.ts';
import { newestRamdiskJoin } from '../agents/ramdiskJoins.ts';
import { findAgent } from '../join/agents.ts';
import { nodeTopic } from '../signals.ts';
import type { Queries } from '../store/store.ts';
import { noRamdisk, ramdiskAddressee, runningRamdisk } from './ramdisk.ts';
import { type StepRun, waitFor } from './stepRun.ts';

/** The agent of an installed OS that was not heard for so long, in milliseconds, is not connected: it polls every half minute. */
const silentMs = 90_000;

/**
 * The agent that a step of either place runs on: the one that the profile's `on` names, else whichever of the machine's is connected. After a
 * crash the one that was asked already. A further attempt waits until one is there.
 * @throws RailheadError INVALID_STATE (`no-ramdisk`), FORBIDDEN as for a ramdisk's step
 */
export async function machineAgent(run: StepRun): Promise<Addressee> {
  const { central, workflow, step, stepId, attempt } = run;
  const asked = await findOperation(central.store, stepId, attempt);
  if (asked?.target === 'node' || step.on === 'node') return { target: 'node' };
  if (asked !== undefined || step.on === 'ramdisk') return ramdiskAddressee(run);
  const whichever = async () =>
    (await isOsConnected(central.store, workflow.node_id))
      ? ({ target: 'node' } as const)
      : runningRamdisk(run);
  if (attempt > 1) return waitFor(run, [nodeTopic(workflow.node_id)], whichever);
  const found = await whichever();
  if (found !== undefined) return found;
  throw noRamdisk("neither a ramdisk of this workflow nor the OS's agent is connected");
}

/** Whether the machine runs its OS: its agent, which stands unrevoked, was heard lately, and after its newest ramdisk joined. */
async function isOsConnected(store: Queries, nodeId: string): Promise<boolean> {
  const agent = await findAgent(store, { role: 'node', id: nodeId });
  if (agent === undefined || agent.revoked_at !== null) return false;
  const spec = await findSpec(store, { role: 'node', id: nodeId });
  const heardAt = [agent.joined_at, spec?.observed_at ?? ''].toSorted().at(-1) ?? '';
  if (Date.parse(heardAt) < Date.now() - silentMs) return false;
  const ramdisk = await newestRamdiskJoin(store, nodeId);
  return ramdisk === undefined || ramdisk.lost_at !== null || ramdisk.received_at < heardAt;
}
