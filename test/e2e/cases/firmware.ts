import { bootPhases } from '#rack/line/bootPhases.ts';
import type { Workflow } from '#rack/line/deployment.ts';
import type { Line } from '#rack/line/line.ts';
import { checkDeployed, checkTimeline, deployToEnd } from '../deploys.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';
import { fetchTcpdump, watchSecrets } from '../secrecy.ts';
import { watchTrace } from '../watchTrace.ts';
import { withLine } from '../withLine.ts';

export const uefi = bareMachineBecomesOs('uefi', 'a bare UEFI machine becomes a running OS');
export const bios = bareMachineBecomesOs('bios', 'a bare BIOS machine becomes a running OS');

function bareMachineBecomesOs(firmware: 'uefi' | 'bios', about: string): EndToEndCase {
  return {
    name: firmware,
    about,
    run: async (report, options) => {
      const tcpdump = await fetchTcpdump();
      const machines = [{ name: 'm1', firmware, memoryMiB: 512, disks: [{ size: '8G' }] }] as const;
      await withLine(report, options, { machines }, async (line) => {
        const watch = await watchSecrets(line, tcpdump);
        const trace = await watchTrace(line, 'm1', tcpdump);
        report.phase('deploy');
        const workflow = await deployToEnd(line, 'm1', options);
        await checkDeployed(report, line, 'm1', workflow, options.signal);
        await checkTimeline(report, line, workflow.workflowId);
        await trace.check(report);
        if (report.ok) await reportPhases(report, line, workflow);
        report.phase('look for secrets');
        await watch.check(report);
      });
    },
  };
}

/** Where the time went, from power on to the OS that answers. */
async function reportPhases(report: Report, line: Line, workflow: Workflow): Promise<void> {
  const phases = await bootPhases(line, 'm1', workflow);
  for (const { phase, seconds } of phases) report.note(phase, seconds);
  report.note(
    'power on to OS',
    phases.reduce((sum, { seconds }) => sum + seconds, 0),
  );
}
