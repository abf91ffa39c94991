import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Agent, request } from 'undici';
import { expect } from 'vitest';
import { join } from '#agent/join/join.ts';
import { openText } from '#base/jwe.ts';
import { openKeys } from '#central/join/keys.ts';
import { centralPins } from '#central/join/pins.ts';
import type { DeployImage, Operation } from '#contract/operations.ts';
import { mustRegister, newSigner, newSite, osImage, type TestCentre } from '../../../central/centre.ts';
import { type WorkflowView, workflow } from '../../../central/line.ts';
import { sampleProfile } from '../../../central/sampleProfile.ts';
import { leaseTo } from './leases.ts';
import type { LoopbackSite } from './loopbackSite.ts';
import { fetchScript, newMachine, type ScriptedMachine, tokenIn } from './scriptedMachine.ts';

/** What a test needs that has the real centre and the real site agent talk to each other. */
export const tenantId = 'root';

/** The site joins as `bcd join` does, with a token that it has in a file. */
export async function joinSite(
  { directory, central }: TestCentre,
  site: LoopbackSite,
): Promise<{ siteId: string; joinToken: string }> {
  const { siteId, joinToken } = await newSite(directory, 'lab');
  const tokenFile = path.join(site.directory, 'join-token');
  await writeFile(tokenFile, joinToken);
  const pins = centralPins(await openKeys(directory));
  const { stateDirectory } = site;
  await join({ server: central.agentsUrl, tokenFile, nodeId: siteId, stateDirectory, ...pins });
  return { siteId, joinToken };
}

/** A ramdisk that the site can pull, an OS image, a pool and the sample profile; then `node-1` in the books. */
export async function enrollOne(
  centre: TestCentre,
  site: LoopbackSite,
  siteId: string,
  node: { macs: string[]; bmc: object },
): Promise<void> {
  const { call, directory } = centre;
  const signer = await newSigner(directory);
  await mustRegister(call, signer.signed(osImage({ sizeBytes: 1000 })));
  const { source, digest: sha256 } = site.image;
  const ramdisk = osImage({ ref: 'ramdisk@1', kind: 'ramdisk', compression: 'none', sha256, source });
  await mustRegister(call, signer.signed(ramdisk));
  const policy = { ramdisk: { x86_64: 'ramdisk@1' } };
  const { data: pool } = await call<{ poolId: string }>('pools.create', { tenantId, siteId, policy });
  await call('profiles.create', { tenantId, document: sampleProfile });
  await call('metal.enroll', { tenantId, siteId, poolId: pool.poolId, nodeId: 'node-1', ...node });
}

/** Waits, by the events of the workflow, until `condition` holds. */
export async function workflowUntil(
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

/** Starts a deploy and waits until the machine was powered on. */
export async function deployUntilPower(centre: TestCentre): Promise<string> {
  await enrolment(centre);
  const deploy = { tenantId, nodeId: 'node-1', profileId: sampleProfile.id };
  const { data } = await centre.call<{ workflowId: string }>('metal.deploy', deploy);
  await workflowUntil(centre, data.workflowId, (view) => stepState(view, 'power.setPower') === 'succeeded');
  return data.workflowId;
}

/** The BMC of the node has told which machine it is. */
export async function enrolment(centre: TestCentre): Promise<WorkflowView> {
  const { data } = await centre.call<{ workflowId: string }>('nodes.get', { tenantId, nodeId: 'node-1' });
  return workflowUntil(centre, data.workflowId, () => false);
}

/** What the machine was given on its way from its first script to its OS. */
export interface MachineRun {
  bootToken: string;
  session: string;
  image: Operation;
  /** The user data as the ramdisk opened it. */
  document: string;
}

/** The machine boots, joins, writes the image, restarts and announces itself, as it is asked to. */
export async function runMachine(centre: TestCentre, site: LoopbackSite, mac: string): Promise<MachineRun> {
  await leaseTo(site, mac);
  const machine = await newMachine(site);
  const bootToken = tokenIn(await fetchScript(site, mac));
  const { session } = await machine.join(bootToken, mac);
  const image = await nextOperation(machine, session, []);
  const { digest, userData } = image.input as DeployImage;
  const written = {
    digest,
    device: '/dev/vda',
    artifactBytes: 1000,
    diskBytes: 1000,
    source: 'origin',
    seconds: 1,
  };
  const { sealed } = await machine.secret(session, userData?.ref ?? '');
  await succeed(machine, session, image, written);
  const kexec = await nextOperation(machine, session, [image.operationId]);
  await succeed(machine, session, kexec, {});
  const document = await openText('railhead-user-data', sealed, machine.keys.sealing);
  await rejoin(centre, /token: (\S+)/.exec(document)?.[1] ?? '');
  return { bootToken, session, image, document };
}

function succeed(
  machine: ScriptedMachine,
  session: string,
  { operationId }: Operation,
  result: Record<string, unknown>,
): Promise<void> {
  return machine.report(session, { operationId, outcome: 'succeeded', result });
}

/** A poll may end with other news, such as the centre's keys; then the machine asks again. */
async function nextOperation(machine: ScriptedMachine, session: string, taken: string[]): Promise<Operation> {
  for (;;) {
    const { operations } = await machine.poll(session, taken, 30);
    const payload = operations[0]?.jws.split('.')[1];
    if (payload !== undefined) return JSON.parse(Buffer.from(payload, 'base64url').toString());
  }
}

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
