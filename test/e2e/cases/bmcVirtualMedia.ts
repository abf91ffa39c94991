import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Agent, request } from 'undici';
import { systemClock } from '#base/clock.ts';
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
    'a UEFI machine boots an ISO of the catalog from its BMC’s virtual drive, which is empty afterwards; then the BMC mounts it from the site’s cache',
  run: async (report, options) => {
    const packages = await smallIsoPackages();
    await withLine(report, options, { machines, boot: { httpsPort: 8444 } }, async (line) => {
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
      await mountFromCache(report, line, options.signal);
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
  const image = await inDrive(line);
  report.check('the drive is empty', image === undefined, image);
}

async function inDrive(line: Line): Promise<string | undefined> {
  const { address, username, password } = line.rack.machine('m1').bmc;
  const bmc = openBmc({ address, username, password, log: silentLog() });
  return bmc.insertedMedia().finally(() => bmc.close());
}

/** The ISO is private, as what is registered is: its URL is good for this BMC, by HTTPS, until the eject. */
async function mountFromCache(report: Report, line: Line, signal: AbortSignal): Promise<void> {
  report.phase('mount from the cache');
  await line.site.stop();
  const file = path.join(line.site.directory, 'config.toml');
  await writeFile(file, `${await readFile(file, 'utf8')}\n[bmc]\nmediaFrom = "cache"\n`);
  await line.site.start();
  await isTold(line, signal);
  const { workflowId, steps } = await bootIso(line, 'm1', signal);
  const [inserted] = steps.map(({ result }) => result);
  const url = String(inserted?.url);
  report.check('the BMC mounts a URL of the site', /^https:.*\/media\/\w+\.iso$/.test(url), steps[0]);
  report.check('the drive shows it', (await inDrive(line)) === url);
  await checkEject(report, line, workflowId, signal);
  const { statusCode } = await request(url, { dispatcher: trusting });
  report.check('after the eject the URL is good for nothing', statusCode === 404, statusCode);
}

/** The centre goes by what the site has told it. */
async function isTold(line: Line, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { items } = await line.api.call<{ items: { mediaFrom?: string }[] }>('sites', 'list', {});
    if (items[0]?.mediaFrom === 'cache') return;
    await systemClock.sleep(100, signal);
  }
}

const trusting = new Agent({ connect: { rejectUnauthorized: false } });
