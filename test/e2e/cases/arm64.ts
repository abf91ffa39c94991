import { allEvents } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { bootRamdisk } from '../bootRamdisk.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const machine = { name: 'm1', firmware: 'uefi-arm64', memoryMiB: 1024, disks: [{ size: '1G' }] } as const;

export const arm64: EndToEndCase = {
  name: 'arm64',
  about: 'an ARM machine boots by its UEFI into the ramdisk of its architecture, and the agent joins',
  run: (report, options) =>
    withLine(report, options, { machines: [machine] }, async (line) => {
      report.phase('boot');
      const workflow = await bootRamdisk(line, 'm1', options.signal);
      const joined = workflow.steps.find(({ use }) => use === 'wait.agentJoined');
      report.check('agent joined', joined?.state === 'succeeded', workflow.error);
      await checkBoot(report, line, workflow.workflowId);
      if (report.ok) await notePhases(report, line, options.signal);
    }),
};

async function checkBoot(report: Report, line: Line, workflowId: string): Promise<void> {
  const texts = (await allEvents(line, workflowId)).flatMap(({ text }) => text ?? []);
  const some = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  report.check('the firmware was told ARM’s iPXE', some(/ipxe-arm64\.efi \(uefi-pxe\)/), texts);
  report.check('it had it by TFTP', some(/ipxe-arm64\.efi complete/), texts);
  report.check('its script boots the ramdisk', some(/^ramdisk /), texts);
}

/** Seconds from the first words of the firmware to what the console says next. */
async function notePhases(report: Report, line: Line, signal: AbortSignal): Promise<void> {
  const at = async (pattern: RegExp) => (await consoleShows(line, 'm1', pattern, 1_000, signal)).at.getTime();
  const started = await at(/./);
  const note = async (what: string, pattern: RegExp) =>
    report.note(what, ((await at(pattern)) - started) / 1000);
  await note('to PXE', /Start PXE over IPv4/);
  await note('to its script', /asks for its script/);
  await note('to /init', /RAILHEAD-INIT/);
  await note('to the agent', /RAILHEAD-AGENT/);
  await note('to joined', /joined site/);
}
