import { tenantId } from '#rack/line/catalog.ts';
import type { LineMachine } from '#rack/line/line.ts';
import { waitForOs } from '#rack/line/runningOs.ts';
import { readDisk } from '#rack/rack.ts';
import { checkDeployed, deployToEnd } from '../deploys.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { isUntouched } from '../observe.ts';
import { withLine } from '../withLine.ts';

export const secondDisk: EndToEndCase = {
  name: 'second-disk',
  about:
    'the OS goes to disk 2 of 3, named by its serial, and boots from there, then and at the next power cycle',
  run: (report, options) =>
    withLine(report, options, { machines: [machine(['8G', '8G', '8G'])] }, async (line) => {
      const { serial } = line.rack.machine('m1').disks[1] ?? { serial: '' };
      report.phase('deploy');
      const workflow = await deployToEnd(line, 'm1', { ...options, disk: { serial } });
      await checkDeployed(report, line, 'm1', workflow, options.signal);
      report.check('disk 1 is untouched', await isUntouched(readDisk(line.rack.machine('m1'), 0)));
      report.check('disk 3 is untouched', await isUntouched(readDisk(line.rack.machine('m1'), 2)));

      report.phase('power cycle');
      const { end } = await waitForOs(line, 'm1', { timeoutMs: 10_000, signal: options.signal });
      await line.api.call('metal', 'power', { tenantId, nodeId: line.nodes.get('m1'), action: 'cycle' });
      const again = await waitForOs(line, 'm1', { timeoutMs: 120_000, signal: options.signal, from: end });
      report.check(
        'it boots again by itself',
        again.hostname === line.nodes.get('m1')?.replace('_', '-'),
        again,
      );
    }),
};

export const twoDisks: EndToEndCase = {
  name: 'two-disks',
  about: 'two disks fit and none is named: refused before a byte is written',
  run: (report, options) =>
    withLine(report, options, { machines: [machine(['8G', '8G'])] }, async (line) => {
      report.phase('deploy');
      const { state, error } = await deployToEnd(line, 'm1', options);
      report.check('the workflow failed', state === 'failed', state);
      const said = JSON.stringify(error ?? {});
      for (const disk of line.rack.machine('m1').disks) {
        report.check(`the error lists ${disk.serial}`, said.includes(disk.serial), error);
        report.check(`${disk.serial} is untouched`, await isUntouched(disk.file));
      }
    }),
};

function machine(sizes: string[]): LineMachine {
  return { name: 'm1', firmware: 'uefi', disks: sizes.map((size) => ({ size })) };
}
