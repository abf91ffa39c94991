import { createHash, randomBytes } from 'node:crypto';
import { request } from 'undici';
import { issueServerIdentity, makeTestCa } from '../../fakes/certificates.ts';
import { serveBytes, startRawHttps } from '../../fakes/rawHttpsServer.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { registerSigned, siteTrusting } from '../loopback/images.ts';
import type { Lab, LabSite } from '../loopback/lab.ts';
import { ask, eventually, withLab } from '../loopback/withLab.ts';
import type { Report } from '../report.ts';

const bytes = randomBytes(32 * 1024 ** 2);
const digest = createHash('sha256').update(bytes).digest('hex');
const ref = 'demo@1';

export const prewarmToReady: EndToEndCase = {
  name: 'prewarm-to-ready',
  about:
    'an image that is registered and that a pool pre-warms is ready at two sites, by image_locations, in seconds',
  run: (report) =>
    withLab(report, async (lab) => {
      const ca = await makeTestCa();
      const source = await startRawHttps(await issueServerIdentity(ca), serveBytes(bytes));
      try {
        await lab.startCentre();
        const sites = [await siteTrusting(lab, ca.pem), await siteTrusting(lab, ca.pem, 'south')];
        for (const site of sites) {
          await lab.join(site);
          await lab.startSite(site);
        }
        await runCase(report, lab, sites, source.origin);
      } finally {
        await source.close();
      }
    }),
};

async function runCase(report: Report, lab: Lab, sites: LabSite[], source: string): Promise<void> {
  report.phase('pre-warm');
  const [north, south] = sites as [LabSite, LabSite];
  const pools = new Map<LabSite, string>();
  for (const site of sites) {
    const { data } = await lab.call<{ poolId: string }>('pools.create', {
      ...{ tenantId: 'root', siteId: site.siteId, policy: { prewarmImages: [ref] } },
    });
    pools.set(site, data.poolId);
  }
  const begun = performance.now();
  const facts = { kind: 'os', ref, format: 'raw', compression: 'none', sha256: digest } as const;
  const imageId = await registerSigned(lab, facts, `${source}/demo`);
  for (const [name, site] of [
    ['north', north],
    ['south', south],
  ] as const)
    report.check(`it comes to be ready at ${name}`, await comesTo(lab, site, 'ready'), await rows(lab, site));
  report.note('from the registration to ready at both', (performance.now() - begun) / 1000);
  const { body } = await ask(`${north.adminUrl}/v1/inventory/images`);
  report.check(
    'the site says the same',
    JSON.stringify(body.images).includes(digest) && JSON.stringify(body.images).includes('"ready"'),
    body,
  );

  report.phase('private and public');
  report.check('a private image is refused on the boot listener', (await status(north)) === 403);
  await lab.call('images.promote', { tenantId: 'root', imageId });
  const opened = await eventually(async () => ((await status(north)) === 200 ? true : undefined));
  report.check('once promoted it is served there', opened === true);

  report.phase('wanted no more');
  for (const site of sites)
    await lab.call('pools.update', { tenantId: 'root', poolId: pools.get(site), policy: {} });
  report.check('a site keeps it while it has room', (await comesTo(lab, south, 'ready')) === true);
}

async function rows(lab: Lab, { siteId }: LabSite): Promise<{ digest: string; state: string }[]> {
  const { data } = await lab.call<{ items: { digest: string; state: string }[] }>('sites.images', { siteId });
  return data.items;
}

async function comesTo(lab: Lab, site: LabSite, state: string): Promise<boolean> {
  const found = await eventually(async () => {
    const row = (await rows(lab, site)).find((one) => one.digest === digest);
    return row?.state === state ? true : undefined;
  });
  return found ?? false;
}

async function status({ bootUrl }: LabSite): Promise<number> {
  const { statusCode, body } = await request(`${bootUrl}/images/sha256/${digest}`, { method: 'HEAD' });
  await body.dump();
  return statusCode;
}
