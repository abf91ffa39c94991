import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { join } from '#agent/join/join.ts';
import { openText } from '#base/jwe.ts';
import { openKeys } from '#central/join/keys.ts';
import { centralPins } from '#central/join/pins.ts';
import type { DeployImage, Operation } from '#contract/operations.ts';
import {
  mustRegister,
  newSigner,
  newSite,
  osImage,
  startTestCentre,
  type TestCentre,
} from '../../central/centre.ts';
import { templatesFolder, type WorkflowView, workflow } from '../../central/line.ts';
import { sampleProfile } from '../../central/sampleProfile.ts';
import { leaseTo } from './bench/leases.ts';
import { configureSite, type LoopbackSite, startSiteBmc } from './bench/loopbackSite.ts';
import { fetchScript, newMachine, type ScriptedMachine, tokenIn } from './bench/scriptedMachine.ts';

const mac = '02:00:00:00:00:01';
const tenantId = 'root';

/** A real centre with a site that has joined it, an image, a profile and a node with a BMC. */
async function setUp() {
  const centre = await startTestCentre({ userData: { templates: await templatesFolder() } });
  onTestFinished(() => centre.close());
  const site = await configureSite();
  const siteId = await joinSite(centre, site);
  const { fake, binding } = await startSiteBmc(site);
  await fillCatalog(centre, site);
  const policy = { ramdisk: { x86_64: 'ramdisk@1' } };
  const { data: pool } = await centre.call<{ poolId: string }>('pools.create', { tenantId, siteId, policy });
  await centre.call('profiles.create', { tenantId, document: sampleProfile });
  const node = { tenantId, siteId, poolId: pool.poolId, nodeId: 'node-1', macs: [mac], bmc: binding };
  await centre.call('metal.enroll', node);
  return { centre, site, fake };
}

async function joinSite({ directory, central }: TestCentre, site: LoopbackSite): Promise<string> {
  const { siteId, joinToken } = await newSite(directory, 'lab');
  const tokenFile = path.join(site.directory, 'join-token');
  await writeFile(tokenFile, joinToken);
  const pins = centralPins(await openKeys(directory));
  const { stateDirectory } = site;
  await join({ server: central.agentsUrl, tokenFile, nodeId: siteId, stateDirectory, ...pins });
  return siteId;
}

async function fillCatalog({ directory, call }: TestCentre, { image }: LoopbackSite): Promise<void> {
  const signer = await newSigner(directory);
  await mustRegister(call, signer.signed(osImage({ sizeBytes: 1000 })));
  const { source, digest: sha256 } = image;
  const ramdisk = osImage({ ref: 'ramdisk@1', kind: 'ramdisk', compression: 'none', sha256, source });
  await mustRegister(call, signer.signed(ramdisk));
}

/** Waits, by the events of the workflow, until `condition` holds. */
async function workflowUntil(
  { call }: TestCentre,
  workflowId: string,
  condition: (view: WorkflowView) => boolean,
): Promise<WorkflowView> {
  let cursor: string | undefined;
  for (;;) {
    const view = await workflow(call, workflowId);
    if (condition(view) || view.state !== 'running') return view;
    const input = { tenantId, workflowId, waitSeconds: 5, ...(cursor !== undefined && { cursor }) };
    cursor = (await call<{ cursor: string }>('workflows.events', input)).data.cursor;
  }
}

const stepState = (view: WorkflowView, use: string) => view.steps.find((step) => step.use === use)?.state;

async function nextOperation(machine: ScriptedMachine, session: string, taken: string[]): Promise<Operation> {
  const { operations } = await machine.poll(session, taken, 30);
  const payload = operations[0]?.jws.split('.')[1] ?? '';
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}

test('the real centre deploys a machine through the real site agent', { timeout: 60_000 }, async () => {
  const { centre, site, fake } = await setUp();
  await site.start();
  const deploy = { tenantId, nodeId: 'node-1', profileId: sampleProfile.id };
  const { data } = await centre.call<{ workflowId: string }>('metal.deploy', deploy);
  await workflowUntil(centre, data.workflowId, (view) => stepState(view, 'power.setPower') === 'succeeded');
  expect(fake.boot.BootSourceOverrideTarget).toBe('Pxe');
  expect(fake.system.PowerState).toBe('On');

  leaseTo(site, mac);
  const machine = await newMachine(site);
  const { session } = await machine.join(tokenIn(await fetchScript(site, mac)), mac);
  const image = await nextOperation(machine, session, []);
  expect(image).toMatchObject({ action: 'deploy.image', nodeId: 'node-1' });
  const { digest, userData } = image.input as DeployImage;
  const result = {
    digest,
    device: '/dev/vda',
    artifactBytes: 1000,
    diskBytes: 1000,
    source: 'origin',
    seconds: 1,
  };
  await machine.report(session, { operationId: image.operationId, outcome: 'succeeded', result });

  const kexec = await nextOperation(machine, session, [image.operationId]);
  expect(kexec.action).toBe('boot.kexec');
  expect(fake.boot.BootSourceOverrideTarget).toBe('Hdd');
  await machine.report(session, { operationId: kexec.operationId, outcome: 'succeeded', result: {} });
  const document = await openText('railhead-user-data', userData?.sealed ?? '', machine.keys.sealing);
  await rejoin(centre, /token: (\S+)/.exec(document)?.[1] ?? '');

  const end = await workflowUntil(centre, data.workflowId, (view) => view.state !== 'running');
  expect(end).toMatchObject({ state: 'succeeded' });
  expect(await fetchScript(site, mac)).not.toContain('railhead.token');
});

/** The OS announces itself with the token of its user data. */
async function rejoin({ central, directory }: TestCentre, token: string): Promise<void> {
  const dispatcher = new Agent({ connect: { ca: (await openKeys(directory)).authority.certificate } });
  const answer = await request(`${central.agentsUrl}/v1/rejoin`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, nodeId: 'node-1' }),
  });
  expect(answer.statusCode).toBe(200);
  await answer.body.dump();
  await dispatcher.close();
}
