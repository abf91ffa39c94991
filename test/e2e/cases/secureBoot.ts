import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { openLoaders } from '#agent/site/store/loaders.ts';
import { migrations } from '#agent/site/store/schema.ts';
import { openSqlite } from '#base/sqlite.ts';
import type { EfiLoader } from '#contract/efiLoader.ts';
import { tenantId } from '#rack/line/catalog.ts';
import { enrolled, followWorkflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { diskGreeting, makeSignedDisk } from '../signedDisk.ts';
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
        report.phase('inspect');
        await enrolled(line, line.nodes.get('m1'));
        const found = await nodeOf(line);
        report.check('its BMC says that Secure Boot is on', found.secureBoot === true, found);
        if (device === 'pxe') {
          report.phase('local disk');
          await checkDisk(report, line, options.signal);
        }
        report.phase('ramdisk');
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
export function startBoot(line: Line, device: Device): Promise<string> {
  return powerCycle(line, device, [{ use: 'boot.prepareRamdisk', on: 'site' }]);
}

async function powerCycle(line: Line, device: Device, before: readonly object[]): Promise<string> {
  const document = {
    ...{ id: `boot-by-${device}-${Date.now()}`, version: 1, target: 'metal', role: 'host' },
    image: { ref: osRef },
    steps: [
      ...before,
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

/** Without a boot entry GRUB starts the disk that was deployed last, whose shim and GRUB the firmware verifies. */
async function checkDisk(report: Report, line: Line, signal: AbortSignal): Promise<void> {
  const { disks, consoleLog } = line.rack.machine('m1');
  const loader = await makeSignedDisk(disks[0]!.file, line.artifacts.shimDirectory);
  rememberDeployed(line, loader);
  const { length } = await readFile(consoleLog);
  const workflowId = await powerCycle(line, 'pxe', []);
  const shown = (pattern: RegExp) => consoleShows(line, 'm1', pattern, 90_000, signal, length);
  await shown(/railhead: starting \(hd0,gpt1\)\/EFI\/debian\/shimx64\.efi/);
  report.check('GRUB finds the deployed disk by its EFI system partition', true);
  await shown(new RegExp(diskGreeting));
  report.check("the disk's own signed loader runs", true);
  await line.api.call('workflows', 'cancel', { tenantId, workflowId });
}

/** As a deploy leaves it at the site. */
function rememberDeployed({ site, nodes }: Line, loader: EfiLoader): void {
  const database = openSqlite(path.join(site.directory, 'state/state.db'), migrations);
  try {
    openLoaders(database).put(nodes.get('m1')!, loader);
  } finally {
    database.close();
  }
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
