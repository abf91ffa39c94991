import { createHash } from 'node:crypto';
import { issueServerIdentity, makeTestCa } from '../../fakes/certificates.ts';
import { type RawHttpsServer, serveBytes, startRawHttps } from '../../fakes/rawHttpsServer.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { registerSigned, siteTrusting } from '../loopback/images.ts';
import type { Lab, LabSite } from '../loopback/lab.ts';
import { runProgram } from '../loopback/processes.ts';
import { ask, eventually, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

const bytes = Buffer.from('the bytes of a ramdisk');
const digest = createHash('sha256').update(bytes).digest('hex');

export const withdrawnImage: EndToEndCase = {
  name: 'withdrawn-image',
  about:
    'an image that is withdrawn at the centre is refused by a site within seconds, whoever is killed meanwhile',
  run: (report) =>
    withLab(report, async (lab) => {
      const ca = await makeTestCa();
      const source = await startRawHttps(await issueServerIdentity(ca), serveBytes(bytes));
      try {
        const site = await siteTrusting(lab, ca.pem);
        await runCase(report, lab, site, source);
      } finally {
        await source.close();
      }
    }),
};

async function runCase(report: Report, lab: Lab, site: LabSite, source: RawHttpsServer): Promise<void> {
  report.phase('fill the cache');
  const centre = await lab.startCentre();
  await lab.join(site);
  const agent = await lab.startSite(site);
  await registerRamdisk(lab, site, source.origin);
  report.check('the site serves the image', await comesTo(site, 200));

  report.phase('withdraw');
  const since = performance.now();
  const { status, output } = await withdraw(lab, digest, '--why', 'bad kernel');
  report.check('the command says which image it is', status === 0 && output.includes('ramdisk@1'), output);
  report.check('the site refuses it', await comesTo(site, 502));
  report.note('from the command to the site', (performance.now() - since) / 1000);
  report.check('and holds it no more', await isEmpty(site));

  report.phase('restart without the centre');
  await centre.kill();
  await agent.kill();
  await lab.startSite(site);
  report.check('the site refuses it still', await comesTo(site, 502));

  report.phase('undo while the centre is away');
  await withdraw(lab, 'undo', digest);
  const second = await lab.startCentre();
  report.check('the site serves it again', await comesTo(site, 200));

  report.phase('withdraw while the centre is away');
  await second.kill();
  await withdraw(lab, digest, '--why', 'bad kernel');
  await lab.startCentre();
  report.check('the site refuses it once the centre is back', await comesTo(site, 502));
}

async function registerRamdisk(lab: Lab, { siteId }: LabSite, source: string): Promise<void> {
  const facts = { kind: 'ramdisk', ref: 'ramdisk@1', format: 'raw', compression: 'none' } as const;
  await registerSigned(lab, { ...facts, sha256: digest }, source);
  await lab.call('pools.create', { tenantId: 'root', siteId, policy: { ramdisk: { x86_64: 'ramdisk@1' } } });
}

function withdraw(lab: Lab, ...args: string[]) {
  return runProgram('railhead', ['central', 'withdraw', ...args, '--directory', lab.central]);
}

/** Whether the site's answer for the image becomes this status. */
async function comesTo({ bootUrl }: LabSite, status: number): Promise<boolean> {
  const answer = await eventually(async () => {
    const { status: found } = await fetch(`${bootUrl}/images/sha256/${digest}`);
    return found === status ? found : undefined;
  });
  return answer === status;
}

async function isEmpty({ adminUrl }: LabSite): Promise<boolean> {
  const rows = await eventually(async () => {
    const { body } = await ask(`${adminUrl}/v1/inventory/images`);
    return (body.images as unknown[]).length === 0 ? true : undefined;
  });
  return rows === true;
}
