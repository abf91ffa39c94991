import { readDisk, resetMachine } from '#rack/rack.ts';
import { checkDeployed, deployToEnd, deployUntilWriting, followToEnd } from '../deploys.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { consoleShows, isUnbootable } from '../observe.ts';
import { type LineSetup, withLine } from '../withLine.ts';

/** Not compressed, so that there is time to strike while bytes flow. */
const setup: LineSetup = {
  machines: [{ name: 'm1', firmware: 'uefi', disks: [{ size: '8G' }] }],
  os: { compression: 'none' },
};

export const killAgent: EndToEndCase = {
  name: 'kill-agent',
  about: 'the site agent is killed with -9 while bytes flow and started again: the deploy completes',
  run: (report, options) =>
    withLine(report, options, setup, async (line) => {
      report.phase('deploy until bytes flow');
      const workflowId = await deployUntilWriting(line, 'm1', options.signal);
      report.phase('kill and start the agent, deploy to its end');
      await line.site.kill();
      report.check('the agent was killed', !line.site.process.running);
      await line.site.start();
      const workflow = await followToEnd(line, workflowId, options.signal);
      await checkDeployed(report, line, 'm1', workflow, options.signal);
      const step = workflow.steps.find(({ use }) => use === 'deploy.deploy');
      report.check('it was one try', step?.attempt === 1, step?.attempt);
    }),
};

export const killRamdisk: EndToEndCase = {
  name: 'kill-ramdisk',
  about: 'the machine is reset in mid-write: no half OS boots, the workflow says so, a new try succeeds',
  run: (report, options) =>
    withLine(report, options, setup, async (line) => {
      const disk = readDisk(line.rack.machine('m1'), 0);
      report.phase('deploy until bytes flow');
      const workflowId = await deployUntilWriting(line, 'm1', options.signal);
      report.phase('reset the machine');
      await resetMachine(line.rack.machine('m1'));
      report.check('the disk is not bootable', await isUnbootable(disk));
      const workflow = await followToEnd(line, workflowId, options.signal);
      report.check('the workflow failed', workflow.state === 'failed', workflow.state);
      const { message = '', details } = workflow.error ?? {};
      const says = details?.reason === 'ramdisk-lost' && message.includes('booted again');
      report.check('it says that the machine booted again', says, workflow.error);
      report.check('the disk is still not bootable', await isUnbootable(disk));
      report.phase('deploy again');
      await checkDeployed(report, line, 'm1', await deployToEnd(line, 'm1', options), options.signal);
    }),
};

export const noCentre: EndToEndCase = {
  name: 'no-centre',
  about:
    'the centre stops after the operation was taken: the deploy finishes, the result arrives when it is back',
  run: (report, options) =>
    withLine(report, options, setup, async (line) => {
      report.phase('deploy until bytes flow');
      const workflowId = await deployUntilWriting(line, 'm1', options.signal);
      report.phase('write without a centre');
      await line.centre.stop();
      const finished = await consoleShows(
        line,
        'm1',
        /deploy\.image (succeeded|failed)/,
        120_000,
        options.signal,
      );
      report.check(
        'the deploy finished without the centre',
        finished.match[1] === 'succeeded',
        finished.match[0],
      );
      report.check('the centre was away all the time', !line.centre.process.running);
      report.phase('centre back');
      await line.centre.start();
      await checkDeployed(
        report,
        line,
        'm1',
        await followToEnd(line, workflowId, options.signal),
        options.signal,
      );
    }),
};
