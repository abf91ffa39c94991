import { mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { RegisterImage } from '#contract/images.ts';
import type { DeployImage, Operation, OperationResult } from '#contract/operations.ts';
import { type Call, mustRegister, newSigner, newSite, osImage, type TestSigner } from './centre.ts';
import {
  agentClient,
  bootRamdisk,
  type FakeRamdisk,
  type FakeSite,
  joinAs,
  type Script,
  startFakeSite,
} from './fakeSite.ts';
import { sampleProfile } from './sampleProfile.ts';

export const osDigest = 'a'.repeat(64);
export const ramdiskDigest = 'f'.repeat(64);

/** A folder with the template that the sample profile of the tests names. */
export async function templatesFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-templates-'));
  await writeFile(path.join(folder, 'first-boot.yaml'), 'node: {{nodeId}}\ntoken: {{joinToken}}\n');
  return folder;
}

/** A site with a pool, its images and nodes, ready to deploy. */
export interface Line {
  call: Call;
  agentsUrl: string;
  directory: string;
  siteId: string;
  poolId: string;
  joinToken: string;
  signer: TestSigner;
}

export async function prepareLine(
  { call, agentsUrl, directory }: { call: Call; agentsUrl: string; directory: string },
  profile: object = sampleProfile,
  image: Partial<RegisterImage> = {},
): Promise<Line> {
  const signer = await newSigner(directory);
  const { siteId, joinToken } = await newSite(directory, 'lab');
  await mustRegister(call, signer.signed(osImage({ sizeBytes: 1000, ...image })));
  const ramdisk = { ref: 'ramdisk@1', kind: 'ramdisk', compression: 'none', sha256: ramdiskDigest } as const;
  await mustRegister(call, signer.signed(osImage(ramdisk)));
  const policy = { prewarmImages: ['demo-os@1'], ramdisk: { x86_64: 'ramdisk@1' } };
  const { data: pool } = await call<{ poolId: string }>('pools.create', { tenantId: 'root', siteId, policy });
  const created = await call('profiles.create', { tenantId: 'root', document: profile });
  if (created.error !== undefined) throw new Error(created.error.message);
  return { call, agentsUrl, directory, siteId, poolId: pool.poolId, joinToken, signer };
}

export async function enroll(line: Line, nodeId: string, mac: string, more: object = {}): Promise<void> {
  const { siteId, poolId } = line;
  const { error } = await line.call('metal.enroll', {
    tenantId: 'root',
    siteId,
    poolId,
    nodeId,
    macs: [mac],
    ...more,
  });
  if (error !== undefined) throw new Error(error.message);
}

export async function deploy(line: Line, nodeId: string, more: object = {}): Promise<string> {
  const input = { tenantId: 'root', nodeId, profileId: sampleProfile.id, ...more };
  const { data, error } = await line.call<{ workflowId: string }>('metal.deploy', input);
  if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
  return data.workflowId;
}

export async function joinLine(line: Line) {
  return joinAs(line.agentsUrl, 'site', line.siteId, line.joinToken);
}

/** One machine as the fake site plays it: what it was told, and which ramdisk it runs. */
export interface FakeMachine {
  ramdisk?: FakeRamdisk;
  deployed?: DeployImage;
  /** The user data of it, as its ramdisk opened it. */
  document?: string;
}

/** What a site and its machines do when all goes well. `before` may take an operation over by answering true. */
export function playLine(
  agentsUrl: string,
  machines: Map<string, FakeMachine>,
  before: (operation: Operation, site: FakeSite) => Promise<boolean> | boolean = () => false,
): Script {
  return async (operation, site) => {
    if (await before(operation, site)) return;
    const machine = machines.get(operation.nodeId) ?? {};
    machines.set(operation.nodeId, machine);
    if (operation.action === 'deploy.image') return writeImage(operation, site, machine);
    if (operation.action === 'boot.kexec') return startOs(agentsUrl, operation, site, machine);
    await site.succeed(operation);
    if (startsMachine(operation)) await bootMachine(operation.nodeId, site, machine);
  };
}

function startsMachine({ action, input }: Operation): boolean {
  return action === 'power.setPower' && ['on', 'cycle', 'reset'].includes(input.action as string);
}

/** The address of a test machine: `node-2` has `52:54:00:00:00:02`. */
function macOf(nodeId: string): string {
  return `52:54:00:00:00:${(/\d+$/.exec(nodeId)?.[0] ?? '1').padStart(2, '0')}`;
}

export async function bootMachine(nodeId: string, site: FakeSite, machine: FakeMachine): Promise<void> {
  machine.ramdisk = bootRamdisk(nodeId, macOf(nodeId), site.entryOf(nodeId));
  await site.report({ events: [await machine.ramdisk.joinEvent()] });
}

/** What the ramdisk keeps of a `deploy.image`. */
export async function takeDeploy(operation: Operation, machine: FakeMachine): Promise<void> {
  machine.deployed = operation.input as DeployImage;
  machine.document = (await machine.ramdisk?.unseal(operation)) ?? '';
}

async function writeImage(operation: Operation, site: FakeSite, machine: FakeMachine): Promise<void> {
  await takeDeploy(operation, machine);
  const at = new Date().toISOString();
  const progress = {
    operationId: operation.operationId,
    phase: 'write',
    doneBytes: 500,
    totalBytes: 1000,
    at,
  };
  await site.report({ progress: [progress] });
  await site.report({
    results: [
      await signedSuccess(operation, machine, { digest: machine.deployed?.digest, device: '/dev/vda' }),
    ],
  });
}

export function signedSuccess(
  { operationId }: Operation,
  { ramdisk }: FakeMachine,
  result: Record<string, unknown>,
): Promise<OperationResult> {
  if (ramdisk === undefined) throw new Error('no ramdisk runs');
  return ramdisk.sign({ operationId, outcome: 'succeeded', result, finishedAt: new Date().toISOString() });
}

/** The machine restarts: its ramdisk says so and falls silent, then the OS announces itself with its token. */
async function startOs(
  agentsUrl: string,
  operation: Operation,
  site: FakeSite,
  machine: FakeMachine,
): Promise<void> {
  await site.report({ results: [await signedSuccess(operation, machine, {})] });
  const token = /token: (\S+)/.exec(machine.document ?? '')?.[1] ?? '';
  const os = agentClient(agentsUrl, site.wellKnown.servingCa);
  const { status, body } = await os.post('/v1/rejoin', { token, nodeId: operation.nodeId });
  await os.close();
  if (status !== 200) throw new Error(`rejoin answered ${status}: ${JSON.stringify(body)}`);
}

export interface WorkflowView {
  state: string;
  profileId: string;
  error?: { code: string; message: string; details: Record<string, unknown> };
  steps: {
    use: string;
    state: string;
    attempt: number;
    error?: { code: string; details: Record<string, unknown> };
    result?: Record<string, unknown>;
    progress?: Record<string, unknown>;
    operationId?: string;
  }[];
}

export interface EventView {
  type: string;
  text: string;
  cause: string;
  at: string;
  data?: Record<string, unknown>;
}

/** Follows a workflow's events by long poll until `enough` says so, or the workflow ends. */
export async function follow(
  call: Call,
  workflowId: string,
  enough: (event: EventView) => boolean = () => false,
): Promise<EventView[]> {
  const seen: EventView[] = [];
  let cursor: string | undefined;
  for (;;) {
    const input = { tenantId: 'root', workflowId, waitSeconds: 10, ...(cursor !== undefined && { cursor }) };
    const { data, error } = await call<{ items: EventView[]; cursor: string; state: string }>(
      'workflows.events',
      input,
    );
    if (error !== undefined) throw new Error(error.message);
    seen.push(...data.items);
    cursor = data.cursor;
    if (data.items.some(enough) || (data.state !== 'running' && data.items.length === 0)) return seen;
  }
}

export async function workflow(call: Call, workflowId: string): Promise<WorkflowView> {
  return (await call<WorkflowView>('workflows.get', { tenantId: 'root', workflowId })).data;
}

export function startSite(
  line: Line,
  credentials: Awaited<ReturnType<typeof joinLine>>,
  script: Script,
): Promise<FakeSite> {
  return startFakeSite(line.agentsUrl, line.siteId, credentials, script);
}
