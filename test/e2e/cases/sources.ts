import { existsSync } from 'node:fs';
import path from 'node:path';
import { request } from 'undici';
import { run } from '#base/command.ts';
import type { CachedImage } from '#contract/images.ts';
import type { Workflow } from '#rack/line/deployment.ts';
import type { Line, LineMachine } from '#rack/line/line.ts';
import { readDisk } from '#rack/rack.ts';
import { checkDeployed, deployToEnd } from '../deploys.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { isUntouched } from '../observe.ts';
import type { Report } from '../report.ts';
import { osRef, withLine } from '../withLine.ts';

const machines: LineMachine[] = [{ name: 'm1', firmware: 'uefi', disks: [{ size: '8G' }] }];

export const badDigest: EndToEndCase = {
  name: 'bad-digest',
  about: 'the source serves other bytes: nothing is visible in the cache, the machine is not written',
  run: (report, options) =>
    withLine(report, options, { machines, osSource: 'other-bytes' }, async (line) => {
      report.phase('deploy');
      const workflow = await deployToEnd(line, 'm1', options);
      await checkRefused(report, line, workflow);
      const found = String(workflow.error?.details?.found);
      report.check(
        'the error names the catalog’s digest',
        said(workflow).includes(line.artifacts.os.sha256),
        workflow.error,
      );
      report.check(
        'the error names the digest that came',
        /^[0-9a-f]{64}$/.test(found) && found !== line.artifacts.os.sha256,
        found,
      );
    }),
};

export const truncatedSource: EndToEndCase = {
  name: 'truncated-source',
  about: 'the source has half the image: refused; once it has all of it, a new try succeeds',
  run: (report, options) =>
    withLine(report, options, { machines, osSource: 'truncated' }, async (line) => {
      const { artifact, sizeBytes } = line.artifacts.os;
      report.phase('deploy from half an image');
      const workflow = await deployToEnd(line, 'm1', options);
      await checkRefused(report, line, workflow);
      report.check(
        'the error names the size that was expected',
        said(workflow).includes(String(sizeBytes)),
        workflow.error,
      );
      report.check(
        'the error names the size that came',
        said(workflow).includes(String(Math.floor(sizeBytes / 2))),
        workflow.error,
      );

      report.phase('deploy from the whole image');
      await line.source.serve(osRef, artifact);
      await checkDeployed(report, line, 'm1', await deployToEnd(line, 'm1', options), options.signal);
    }),
};

/** Neither the cache nor the disk shows anything of an image that was not right. */
async function checkRefused(report: Report, line: Line, workflow: Workflow): Promise<void> {
  report.check('the workflow failed', workflow.state === 'failed', workflow.state);
  const failed = workflow.steps.find(({ state }) => state === 'failed');
  report.check('it failed at the deploy', failed?.use === 'deploy.deploy', failed);
  const { sha256 } = line.artifacts.os;
  const [row] = (await inventory()).filter(({ digest }) => digest === sha256);
  report.check('the inventory has no such image ready', row?.state !== 'ready', row);
  const served = await request(`http://10.77.0.1:8080/images/sha256/${sha256}`);
  await served.body.dump();
  report.check('the cache does not serve it', served.statusCode >= 400, served.statusCode);
  report.check('no file of it is visible in the cache', !(await isInCache(line, sha256)));
  report.check('the disk is untouched', await isUntouched(readDisk(line.rack.machine('m1'), 0)));
}

async function inventory(): Promise<CachedImage[]> {
  const { body } = await request('http://127.0.0.1:9090/v1/inventory/images');
  return ((await body.json()) as { images: CachedImage[] }).images;
}

async function isInCache(line: Line, digest: string): Promise<boolean> {
  const images = path.join(path.dirname(line.rack.directory), 'site/state/images');
  if (!existsSync(images)) return false;
  return (await run('find', [images, '-name', digest])).trim() !== '';
}

function said({ error }: Workflow): string {
  return JSON.stringify(error ?? {});
}
