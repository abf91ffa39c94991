import { checkDeployed, checkTimeline, deployToEnd } from '../deploys.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { withLine } from '../withLine.ts';

export const uefi = bareMachineBecomesOs('uefi', 'a bare UEFI machine becomes a running OS');
export const bios = bareMachineBecomesOs('bios', 'a bare BIOS machine becomes a running OS');

function bareMachineBecomesOs(firmware: 'uefi' | 'bios', about: string): EndToEndCase {
  return {
    name: firmware,
    about,
    run: (report, options) =>
      withLine(
        report,
        options,
        { machines: [{ name: 'm1', firmware, disks: [{ size: '8G' }] }] },
        async (line) => {
          report.phase('deploy');
          const workflow = await deployToEnd(line, 'm1', options);
          await checkDeployed(report, line, 'm1', workflow, options.signal);
          await checkTimeline(report, line, workflow.workflowId);
        },
      ),
  };
}
