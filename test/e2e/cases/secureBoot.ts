import { readFile } from 'node:fs/promises';
import { tenantId } from '#rack/line/catalog.ts';
import { enrolled, followWorkflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { osRef, withLine } from '../withLine.ts';

export const secureBoot = bySignedLoaders('secure-boot', 'pxe');
export const secureBootHttp = bySignedLoaders('secure-boot-http', 'http');

type Device = 'pxe' | 'http';

function bySignedLoaders(name: string, device: Device): EndToEndCase {
  const way = device === 'pxe' ? 'PXE' : 'UEFI HTTP boot';
  return {
    name,
    about: `a machine with Secure Boot on boots the ramdisk by ${way}, shim and GRUB, and its firmware refuses iPXE`,
    run: (report, options) => {
      const machines = [
        { name: 'm1', firmware: 'uefi-secure', memoryMiB: 1024, disks: [{ size: '1G' }] },
      ] as const;
      return withLine(report, options, { machines }, async (line) => {
        report.phase('ramdisk');
        await enrolled(line, line.nodes.get('m1'));
        const found = await nodeOf(line);
        report.check('its BMC says that Secure Boot is on', found.secureBoot === true, found);
        await bootRamdisk(report, line, device, options.signal);
        const { ramdisk } = await nodeOf(line);
        report.check('the join is trusted as far as the network', ramdisk?.trust === 'network', ramdisk);
        await checkKernel(report, line);
        report.phase('iPXE');
        await checkRefusal(report, line, device, options.signal);
      });
    },
  };
}

/** Boots the ramdisk by whatever the machine's firmware is handed, and ends when it has joined. */
export async function bootRamdisk(
  report: Report,
  line: Line,
  device: Device,
  signal: AbortSignal,
): Promise<void> {
  const workflowId = await startBoot(line, device);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(180_000)]);
  const workflow = await followWorkflow(line, workflowId, { signal: patience });
  report.check('the ramdisk joined', workflow.state === 'succeeded', workflow.error);
}

/** Starts a workflow that ends with the ramdisk's join. */
export async function startBoot(line: Line, device: Device): Promise<string> {
  const document = {
    ...{ id: `boot-by-${device}-${Date.now()}`, version: 1, target: 'metal', role: 'host' },
    image: { ref: osRef },
    steps: [
      { use: 'boot.prepareRamdisk', on: 'site' },
      { use: 'management.setBootDevice', on: 'site', with: { device } },
      { use: 'power.setPower', on: 'site', with: { action: 'cycle' } },
      { use: 'wait.agentJoined', with: { role: 'ramdisk' }, timeout: '5m' },
    ],
  };
  await line.api.call('profiles', 'create', { tenantId, document });
  const nodeId = line.nodes.get('m1');
  const deploy = { tenantId, nodeId, profileId: document.id };
  return (await line.api.call<{ workflowId: string }>('metal', 'deploy', deploy)).workflowId;
}

interface SecureNode {
  secureBoot?: boolean;
  ramdisk?: { trust?: string };
}

export function nodeOf(line: Line): Promise<SecureNode> {
  return line.api.call('nodes', 'get', { tenantId, nodeId: line.nodes.get('m1') });
}

/** The ramdisk repeats on the console what its kernel says of Secure Boot. */
export async function checkKernel(report: Report, line: Line): Promise<void> {
  const said = await readFile(line.rack.machine('m1').consoleLog, 'latin1');
  report.check('the kernel says that Secure Boot is on', /secureboot: Secure boot enabled/i.test(said));
  report.check('the kernel is locked down', /Kernel is locked down from EFI Secure Boot/.test(said));
}

/** The same machine with the loader that is for machines without Secure Boot. */
async function checkRefusal(report: Report, line: Line, device: Device, signal: AbortSignal): Promise<void> {
  const nodeId = line.nodes.get('m1');
  const { length } = await readFile(line.rack.machine('m1').consoleLog);
  await line.api.call('nodes', 'setLoader', { tenantId, nodeId, loader: 'ipxe' });
  const workflowId = await startBoot(line, device);
  await consoleShows(
    line,
    'm1',
    /failed to load .*(Access Denied|Security Violation)/,
    90_000,
    signal,
    length,
  );
  report.check('firmware refuses iPXE', true);
  await line.api.call('workflows', 'cancel', { tenantId, workflowId });
}
