import type { Line } from '#rack/line/line.ts';
import { checkDeployed, deployToEnd } from '../deploys.ts';
import type { CaseOptions, EndToEndCase } from '../endToEndCase.ts';
import { consoleShows } from '../observe.ts';
import type { Report } from '../report.ts';
import { withLine } from '../withLine.ts';

const machines = [
  { name: 'm1', firmware: 'uefi', disks: [{ size: '8G' }], rtc: '2010-01-01' },
  { name: 'm2', firmware: 'uefi', disks: [{ size: '8G' }], rtc: '+2h' },
] as const;

export const clockOff: EndToEndCase = {
  name: 'clock-off',
  about:
    'machines whose battery clocks say 2010 and two hours ahead become running OSes, whose clocks are right',
  run: (report, options) =>
    withLine(report, options, { machines }, async (line) => {
      await deployWithClock(report, line, 'm1', /the clock is \d{9} s behind the site/, options);
      // The checks of both have the same names: those of the second must not hide the first's.
      if (!report.ok) return;
      await deployWithClock(report, line, 'm2', /the clock is 7[12]\d\d s ahead of the site/, options);
    }),
};

/** That the OS joined, over TLS with its certificate's dates checked, shows that the battery's clock was set too. */
async function deployWithClock(
  report: Report,
  line: Line,
  machine: string,
  said: RegExp,
  options: CaseOptions,
): Promise<void> {
  report.phase(`deploy ${machine}`);
  const workflow = await deployToEnd(line, machine, options);
  const told = consoleShows(line, machine, said, 5000, options.signal);
  report.check(`${machine} said how its clock was off`, await told.then(Boolean, () => false));
  await checkDeployed(report, line, machine, workflow, options.signal);
}
