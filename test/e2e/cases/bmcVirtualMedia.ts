import { silentLog } from '#base/log.ts';
import { isoLine } from '#rack/iso/build.ts';
import { tenantId } from '#rack/line/catalog.ts';
import { followWorkflow, getWorkflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { waitForConsole } from '#rack/waitForConsole.ts';
import { openBmc } from '#redfish/bmc.ts';
import { bootIso, offerSmallIso, smallIsoPackages } from '../bootIso.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const machines = [{ name: 'm1', firmware: 'uefi', memoryMiB: 512, disks: [{ size: '1G' }] }] as const;

export const bmcVirtualMedia: EndToEndCase = {
  name: 'bmc-virtual-media',
  about:
    'a UEFI machine boots an ISO of the catalog from its BMC’s virtual drive, and the drive is empty afterwards',
  run: async (report, options) => {
    const packages = await smallIsoPackages();
    await withLine(report, options, { machines }, async (line) => {
      await offerSmallIso(line, packages, true);
      report.phase('insert');
      const { workflowId, steps } = await bootIso(line, 'm1', options.signal);
      const [inserted, device] = steps.map(({ result }) => result);
      report.check(
        'the BMC mounts the image’s own source',
        inserted?.by === 'virtual-media' && String(inserted.url).startsWith('https://'),
        steps[0],
      );
      report.check('the machine is told to boot its CD', device?.device === 'cd', device);
      report.phase('boot the ISO');
      await waitForConsole(line.rack.machine('m1'), new RegExp(isoLine), {
        timeoutMs: 120_000,
        signal: options.signal,
      });
      report.check('the ISO runs', true);
      report.phase('eject');
      await checkEject(report, line, workflowId, options.signal);
    });
  },
};

async function checkEject(
  report: Report,
  line: Line,
  workflowId: string,
  signal: AbortSignal,
): Promise<void> {
  await line.api.call('workflows', 'cancel', { tenantId, workflowId });
  const patience = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
  await followWorkflow(line, workflowId, { signal: patience });
  const { steps } = await getWorkflow(line, workflowId);
  const ejected = steps.find(({ use }) => use === 'media.eject');
  report.check('media.eject succeeded', ejected?.state === 'succeeded', ejected);
  const { address, username, password } = line.rack.machine('m1').bmc;
  const bmc = openBmc({ address, username, password, log: silentLog() });
  const image = await bmc.insertedMedia().finally(() => bmc.close());
  report.check('the drive is empty', image === undefined, image);
}
