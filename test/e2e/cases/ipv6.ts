import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { allEvents, deploy, followWorkflow, type Workflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { addresses } from '#rack/network.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { startRouter } from '../router.ts';
import { osRef, withLine } from '../withLine.ts';

const machine = { name: 'm1', firmware: 'uefi', memoryMiB: 512, disks: [{ size: '8G' }] } as const;

/** No DHCP over IPv4: nothing but IPv6 can have led the machine anywhere. */
export const ipv6Alone = {
  mode: 'off',
  ipv6: { address: addresses.siteIPv6, poolStart: 'fd77::100', poolEnd: 'fd77::1ff' },
};

export const ipv6: EndToEndCase = {
  name: 'ipv6',
  about: 'over IPv6 alone a UEFI machine boots by PXE, joins, and has an image written to its disk',
  run: (report, options) => {
    const setup = {
      machines: [{ ...machine, bootsOver: 'ipv6' }] as const,
      provisioning: ipv6Alone,
      neighbours: (rack: Line['rack'], directory: string) =>
        startRouter(rack, path.join(directory, 'router')),
    };
    return withLine(report, options, setup, async (line) => {
      report.phase('deploy until written');
      const workflow = await deployUntilWritten(line, options);
      const written = workflow.steps.find(({ use }) => use === 'deploy.deploy');
      report.check('the image was written', written?.state === 'succeeded', workflow.error ?? workflow.steps);
      report.check(
        'its digest is the catalog’s',
        written?.result?.digest === line.artifacts.os.sha256,
        written?.result,
      );
      await checkOverIPv6(report, line, workflow.workflowId, options.signal);
      await notePhases(report, line, options.signal);
    });
  },
};

/** The demo's OS itself speaks IPv4, and there is none: the case ends with its image on the disk. */
async function deployUntilWritten(line: Line, { signal }: CaseOptions): Promise<Workflow> {
  const workflowId = await deploy(line, 'm1', osRef);
  const isWritten = ({ steps }: Workflow) =>
    steps.some(({ use, state }) => use === 'deploy.deploy' && state === 'succeeded');
  const patience = AbortSignal.any([signal, AbortSignal.timeout(5 * 60_000)]);
  return followWorkflow(line, workflowId, { signal: patience, until: isWritten });
}

/** Each step of the way from power on to the image's bytes went over IPv6. */
async function checkOverIPv6(
  report: Report,
  line: Line,
  workflowId: string,
  signal: AbortSignal,
): Promise<void> {
  const texts = (await allEvents(line, workflowId)).flatMap(({ text }) => text ?? []);
  const some = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  const site = `\\[${addresses.siteIPv6}\\]`;
  const shown = (pattern: RegExp) =>
    consoleShows(line, 'm1', pattern, 1_000, signal).then(
      () => true,
      () => false,
    );
  report.check('the firmware says PXE over IPv6', await shown(/Start PXE over IPv6/));
  report.check('it was told a TFTP URL', some(new RegExp(`REPLY fd77::.*tftp://${site}/snponly.efi`)), texts);
  report.check('it had its loader by TFTP', some(/snponly\.efi complete/), texts);
  report.check(
    'iPXE was told its script',
    some(new RegExp(`REPLY fd77::.*http://${site}:8080/boot.ipxe`)),
    texts,
  );
  report.check('iPXE asked for its own script', await shown(/at fd77::\S+ asks for its script over IPv6/));
  report.check(
    'kernel and initrd came over IPv6',
    await shown(new RegExp(`http://${site}:8080/.*/sections/initrd`)),
  );
  report.check('the ramdisk has its lease', some(/DHCPv6 REPLY fd77::.*\(ramdisk\)/), texts);
  const log = await readFile(line.site.logFile, 'utf8');
  report.check('it joined from an IPv6 address', /"peer":"fd77::[^"]*","msg":"machine joined"/.test(log));
}

/** Seconds from the firmware's start to what the console says next. */
async function notePhases(report: Report, line: Line, signal: AbortSignal): Promise<void> {
  const at = async (pattern: RegExp) => (await consoleShows(line, 'm1', pattern, 1_000, signal)).at.getTime();
  const started = await at(/Start PXE over IPv6/);
  const seconds = async (pattern: RegExp) => ((await at(pattern)) - started) / 1000;
  report.note('from PXE over IPv6 to iPXE', await seconds(/iPXE \d/));
  report.note('to its script', await seconds(/asks for its script over IPv6/));
  report.note('to /init', await seconds(/RAILHEAD-INIT/));
  report.note('to joined', await seconds(/joined site/));
}
