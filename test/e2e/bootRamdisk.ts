import { tenantId } from '#rack/line/catalog.ts';
import { enrolled, followWorkflow, type Workflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { osRef } from './withLine.ts';

/** Boots the ramdisk on a machine over the network, and nothing else. */
const profile = {
  version: 1,
  target: 'metal',
  role: 'host',
  image: { ref: osRef },
  steps: [
    { use: 'boot.prepareRamdisk', on: 'site' },
    { use: 'management.setBootDevice', on: 'site', with: { device: 'pxe' } },
    { use: 'power.setPower', on: 'site', with: { action: 'cycle' } },
    { use: 'wait.agentJoined', with: { role: 'ramdisk' }, timeout: '4m' },
  ],
  cleanup: [{ use: 'boot.cleanUp', on: 'site' }],
};

/** Has a machine boot its ramdisk, and waits until its agent has joined or cannot any more. */
export async function bootRamdisk(line: Line, machine: string, signal: AbortSignal): Promise<Workflow> {
  const nodeId = line.nodes.get(machine);
  const profileId = `boot-ramdisk-${machine}`;
  await line.api.call('profiles', 'create', { tenantId, document: { id: profileId, ...profile } });
  await enrolled(line, nodeId);
  const deploy = { tenantId, nodeId, profileId };
  const { workflowId } = await line.api.call<{ workflowId: string }>('metal', 'deploy', deploy);
  return followWorkflow(line, workflowId, { signal });
}
