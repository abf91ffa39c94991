import path from 'node:path';
import { machineFaults } from '#rack/control.ts';
import { buildIso, isoLine } from '#rack/iso/build.ts';
import { tenantId } from '#rack/line/catalog.ts';
import { enrolled, followWorkflow, getWorkflow, type Workflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { waitForConsole } from '#rack/waitForConsole.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { osRef, withLine } from '../withLine.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../../../.cache');
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

export const sanbootFallback: EndToEndCase = {
  name: 'bmc-sanboot-fallback',
  about: 'a UEFI machine whose BMC has no virtual media boots an ISO of the catalog from the site by sanboot',
  run: (report, options) => {
    const machines = [{ name: 'm1', firmware: 'uefi', memoryMiB: 512, disks: [{ size: '1G' }] }] as const;
    return withLine(report, options, { machines }, async (line) => {
      await offerSmallIso(line);
      report.phase('insert');
      const workflowId = await bootIso(line);
      await checkBoot(report, line, workflowId, options.signal);
      report.phase('eject');
      await checkEject(report, line, workflowId, options.signal);
    });
  },
};

async function offerSmallIso(line: Line): Promise<void> {
  const machine = line.rack.machine('m1');
  await machineFaults(machine, ['no-virtual-media']);
  await line.offerIso({ ref, ...(await buildIso(machine.directory, cacheDirectory)) });
}

async function bootIso(line: Line): Promise<string> {
  const nodeId = line.nodes.get('m1');
  await line.api.call('profiles', 'create', { tenantId, document: profile });
  await enrolled(line, nodeId);
  const deploy = { tenantId, nodeId, profileId: profile.id };
  return (await line.api.call<{ workflowId: string }>('metal', 'deploy', deploy)).workflowId;
}

async function checkBoot(report: Report, line: Line, workflowId: string, signal: AbortSignal): Promise<void> {
  const isWaiting = ({ steps }: Workflow) => steps[3]?.state === 'running';
  const patience = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
  const workflow = await followWorkflow(line, workflowId, { signal: patience, until: isWaiting });
  const [inserted, device] = workflow.steps.map(({ result }) => result);
  report.check('the ISO is booted by sanboot', inserted?.by === 'sanboot', workflow.steps[0]);
  report.check('cd has become pxe', device?.device === 'pxe' && device.insteadOf === 'cd', device);
  report.phase('boot the ISO');
  const machine = line.rack.machine('m1');
  const script = await waitForConsole(machine, /railhead: booting the ISO/, { timeoutMs: 60_000, signal });
  const more = { timeoutMs: 90_000, signal, from: script.end };
  const running = await waitForConsole(machine, new RegExp(isoLine), more);
  report.check('the ISO runs', true);
  report.note('from the script to the ISO', (running.at.getTime() - script.at.getTime()) / 1000);
}

async function checkEject(
  report: Report,
  line: Line,
  workflowId: string,
  signal: AbortSignal,
): Promise<void> {
  const machine = line.rack.machine('m1');
  const { end } = await waitForConsole(machine, new RegExp(isoLine), { timeoutMs: 1_000, signal });
  await line.api.call('workflows', 'cancel', { tenantId, workflowId });
  const wait = { timeoutMs: 60_000, signal, from: end };
  const { match } = await waitForConsole(machine, /railhead: (no boot entry|booting).*/, wait);
  report.check('the entry is gone', match[1] === 'no boot entry', match[0]);
  const { steps } = await getWorkflow(line, workflowId);
  const ejected = steps.find(({ use }) => use === 'media.eject');
  report.check('media.eject succeeded', ejected?.state === 'succeeded', ejected);
}
