import { expect, onTestFinished, test } from 'vitest';
import { startTestCentre } from '../../central/centre.ts';
import { templatesFolder } from '../../central/line.ts';
import { configureSite, startSiteBmc } from './bench/loopbackSite.ts';
import {
  deployUntilPower,
  enrollOne,
  enrolment,
  joinSite,
  runMachine,
  workflowUntil,
} from './bench/realCentre.ts';
import { fetchScript } from './bench/scriptedMachine.ts';

const mac = '02:00:00:00:00:01';

/** A real centre with a site that has joined it, an image, a profile and a node with a BMC. */
async function setUp() {
  const centre = await startTestCentre({ userData: { templates: await templatesFolder() } });
  onTestFinished(() => centre.close());
  const site = await configureSite();
  const { siteId } = await joinSite(centre, site);
  const { fake, binding } = await startSiteBmc(site);
  await enrollOne(centre, site, siteId, { macs: [mac], bmc: binding });
  return { centre, site, fake };
}

test('the real centre deploys a machine through the real site agent', { timeout: 60_000 }, async () => {
  const { centre, site, fake } = await setUp();
  await site.start();
  const enrolled = await enrolment(centre);
  expect(enrolled).toMatchObject({
    state: 'succeeded',
    steps: [
      { use: 'power.getPower' },
      { use: 'inspect.oob', result: { system: { serial: 'SN1', power: 'off' } } },
    ],
  });
  const workflowId = await deployUntilPower(centre);
  expect(fake.boot.BootSourceOverrideTarget).toBe('Pxe');
  expect(fake.system.PowerState).toBe('On');

  const { image } = await runMachine(centre, site, mac);
  expect(image).toMatchObject({ action: 'deploy.image', nodeId: 'node-1' });
  expect(fake.boot.BootSourceOverrideTarget).toBe('Hdd');

  const end = await workflowUntil(centre, workflowId, (view) => view.state !== 'running');
  expect(end).toMatchObject({ state: 'succeeded' });
  expect(await fetchScript(site, mac)).not.toContain('railhead.token');
});
