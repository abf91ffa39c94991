import { tenantId } from '#rack/line/catalog.ts';
import { getWorkflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { waitForConsole } from '#rack/waitForConsole.ts';
import { bootIso, isoRuns, offerSmallIso, smallIsoPackages } from '../bootIso.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

export const sanbootFallback: EndToEndCase = {
  name: 'bmc-sanboot-fallback',
  about: 'a UEFI machine whose BMC has no virtual media boots an ISO of the catalog from the site by sanboot',
  run: async (report, options) => {
    const packages = await smallIsoPackages();
    const machines = [{ name: 'm1', firmware: 'uefi', memoryMiB: 512, disks: [{ size: '1G' }] }] as const;
    await withLine(report, options, { machines }, async (line) => {
      await offerSmallIso(line, packages);
      report.phase('insert');
      const { workflowId, steps } = await bootIso(line, 'm1', options.signal);
      const [inserted, device] = steps.map(({ result }) => result);
      report.check('the ISO is booted by sanboot', inserted?.by === 'sanboot', steps[0]);
      report.check('cd has become pxe', device?.device === 'pxe' && device.insteadOf === 'cd', device);
      report.phase('boot the ISO');
      const { end, seconds } = await isoRuns(line, 'm1', options.signal);
      report.check('the ISO runs', true);
      report.note('from the script to the ISO', seconds);
      report.phase('eject');
      await checkEject(report, line, { workflowId, from: end, signal: options.signal });
    });
  },
};

async function checkEject(
  report: Report,
  line: Line,
  { workflowId, from, signal }: { workflowId: string; from: number; signal: AbortSignal },
): Promise<void> {
  const machine = line.rack.machine('m1');
  await line.api.call('workflows', 'cancel', { tenantId, workflowId });
  const wait = { timeoutMs: 60_000, signal, from };
  const { match } = await waitForConsole(machine, /railhead: (no boot entry|booting).*/, wait);
  report.check('the entry is gone', match[1] === 'no boot entry', match[0]);
  const { steps } = await getWorkflow(line, workflowId);
  const ejected = steps.find(({ use }) => use === 'media.eject');
  report.check('media.eject succeeded', ejected?.state === 'succeeded', ejected);
}
