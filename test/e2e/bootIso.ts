import path from 'node:path';
import { machineFaults } from '#rack/control.ts';
import { buildIso, type IsoPackages, isoLine, isoPackages } from '#rack/iso/build.ts';
import { tenantId } from '#rack/line/catalog.ts';
import { enrolled, followWorkflow, type Workflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { type ConsoleMatch, waitForConsole } from '#rack/waitForConsole.ts';
import { osRef } from './withLine.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../../.cache');
const ref = 'small-iso@1';

/** Waits on the ISO by a step that never succeeds: no agent runs in it. Cancelling it has the cleanup run. */
const profile = {
  id: 'boot-iso',
  version: 1,
  target: 'metal',
  role: 'host',
  image: { ref: osRef },
  steps: [
    { use: 'media.insert', on: 'site', with: { image: ref } },
    { use: 'management.setBootDevice', on: 'site', with: { device: 'cd' } },
    { use: 'power.setPower', on: 'site', with: { action: 'cycle' } },
    { use: 'wait.agentJoined', with: { role: 'ramdisk' }, timeout: '15m' },
  ],
  cleanup: [
    { use: 'media.eject', on: 'site' },
    { use: 'management.setBootDevice', on: 'site', with: { device: 'pxe' } },
    { use: 'power.setPower', on: 'site', with: { action: 'cycle' } },
  ],
};

/** To be had before there is a line. */
export function smallIsoPackages(): Promise<IsoPackages> {
  return isoPackages(cacheDirectory);
}

/**
 * Puts a small ISO into the catalog. Without `virtualMedia` it takes the virtual drives from the machines' BMCs, so that their site has to
 * boot it.
 */
export async function offerSmallIso(line: Line, packages: IsoPackages, virtualMedia = false): Promise<void> {
  const [first] = line.rack.machines;
  if (!virtualMedia)
    for (const machine of line.rack.machines) await machineFaults(machine, ['no-virtual-media']);
  await line.offerIso({ ref, ...(await buildIso(first?.directory ?? '', packages)) });
  await line.api.call('profiles', 'create', { tenantId, document: profile });
}

/** Has a machine boot the ISO; the workflow as it waits for what never comes. */
export async function bootIso(line: Line, machine: string, signal: AbortSignal): Promise<Workflow> {
  const nodeId = line.nodes.get(machine);
  await enrolled(line, nodeId);
  const deploy = { tenantId, nodeId, profileId: profile.id };
  const { workflowId } = await line.api.call<{ workflowId: string }>('metal', 'deploy', deploy);
  const until = ({ steps }: Workflow) => steps[3]?.state === 'running';
  const patience = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
  return followWorkflow(line, workflowId, { signal: patience, until });
}

/** The ISO's own line on the console, and the seconds that it took from the script to there. */
export async function isoRuns(
  line: Line,
  machine: string,
  signal: AbortSignal,
): Promise<ConsoleMatch & { seconds: number }> {
  const record = line.rack.machine(machine);
  const script = await waitForConsole(record, /railhead: booting the ISO/, { timeoutMs: 90_000, signal });
  const more = { timeoutMs: 120_000, signal, from: script.end };
  const running = await waitForConsole(record, new RegExp(isoLine), more);
  return { ...running, seconds: (running.at.getTime() - script.at.getTime()) / 1000 };
}
