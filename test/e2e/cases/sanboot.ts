import { allEvents } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { bootIso, isoRuns, offerSmallIso, smallIsoPackages } from '../bootIso.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const machines = [
  { name: 'uefi', firmware: 'uefi', memoryMiB: 512, disks: [{ size: '1G' }] },
  { name: 'bios', firmware: 'bios', memoryMiB: 512, disks: [{ size: '1G' }] },
] as const;

export const sanboot: EndToEndCase = {
  name: 'sanboot',
  about: "a UEFI and a BIOS machine boot one ISO of the catalog, block by block from the site's cache",
  run: async (report, options) => {
    const packages = await smallIsoPackages();
    await withLine(report, options, { machines }, async (line) => {
      await offerSmallIso(line, packages);
      for (const { name } of machines) await bootsIso(report, line, name, options);
    });
  },
};

async function bootsIso(report: Report, line: Line, machine: string, { signal }: CaseOptions): Promise<void> {
  report.phase(machine);
  const { workflowId, steps } = await bootIso(line, machine, signal);
  report.check(`${machine}: its boot entry is the ISO`, steps[0]?.result?.by === 'sanboot', steps[0]);
  const { seconds } = await isoRuns(line, machine, signal);
  report.check(`${machine}: the ISO runs`, true);
  report.note(`${machine}: from the script to the ISO`, seconds);
  const events = await allEvents(line, workflowId);
  const fetched = events.some(({ type, text }) => type === 'boot.http' && text?.includes('/images/sha256/'));
  report.check(`${machine}: it came from the site's cache`, fetched, events);
}
