import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import type { Operation } from '#contract/operations.ts';
import { apiClient, type Call, mintToken } from './centre.ts';
import { centreDirectory } from './directory.ts';
import type { FakeSite } from './fakeSite.ts';
import {
  deploy,
  enroll,
  type FakeMachine,
  follow,
  joinLine,
  playLine,
  prepareLine,
  signedSuccess,
  startSite,
  takeDeploy,
  templatesFolder,
  workflow,
} from './line.ts';
import { bmc, inventory } from './metalStage.ts';

interface CentreProcess {
  child: ChildProcess;
  apiUrl: string;
  agentsUrl: string;
}

let running: CentreProcess | undefined;
let site: FakeSite | undefined;
let directory: string;

/** Starts a centre on `directory`; after the first time on the ports that it had before. */
async function startProcess(templates: string): Promise<CentreProcess> {
  const ports = [running?.apiUrl, running?.agentsUrl].map((url) =>
    url === undefined ? '0' : new URL(url).port,
  );
  const entry = path.join(import.meta.dirname, 'centreProcess.ts');
  const child = spawn(process.execPath, [entry, directory, templates, ...ports], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout as NodeJS.ReadableStream), 'line')) as [string];
  running = { child, ...(JSON.parse(line) as { apiUrl: string; agentsUrl: string }) };
  return running;
}

async function kill(): Promise<void> {
  const child = running?.child;
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

afterEach(async () => {
  await site?.stop();
  await kill();
  running = undefined;
  await rm(directory, { recursive: true, force: true });
});

async function startLine(before: Parameters<typeof playLine>[2], machines: Map<string, FakeMachine>) {
  directory = await centreDirectory();
  const templates = await templatesFolder();
  const { apiUrl, agentsUrl } = await startProcess(templates);
  const call: Call = apiClient(apiUrl, await mintToken(directory, ['compute:*@compute-fleet:*']));
  const line = await prepareLine({ call, agentsUrl, directory });
  site = await startSite(line, await joinLine(line), playLine(agentsUrl, machines, before));
  await enroll(line, 'node-1', '52:54:00:00:00:01');
  return { line, templates };
}

test('a centre that is killed in mid-deploy goes on at the step that ran, with the same operation', async () => {
  const machines = new Map<string, FakeMachine>();
  const asked = Promise.withResolvers<Operation>();
  const { line, templates } = await startLine(async (operation) => {
    if (operation.action !== 'deploy.image') return false;
    await takeDeploy(operation, machines.get('node-1') ?? {});
    asked.resolve(operation);
    return true;
  }, machines);
  const workflowId = await deploy(line, 'node-1');
  const operation = await asked.promise;
  await kill();
  await startProcess(templates);
  await follow(line.call, workflowId, ({ type }) => type === 'step.resumed');
  const machine = machines.get('node-1') ?? {};
  await site?.report({
    results: [await signedSuccess(operation, machine, { digest: machine.deployed?.digest })],
  });
  await follow(line.call, workflowId);
  const after = await workflow(line.call, workflowId);
  expect(after).toMatchObject({ state: 'succeeded' });
  expect(after.steps.every(({ attempt }) => attempt === 1)).toBe(true);
  expect(site?.taken.filter(({ action }) => action === 'deploy.image')).toHaveLength(1);
});

test('a centre that is killed at every operation still brings the machine up', {
  timeout: 60_000,
}, async () => {
  const machines = new Map<string, FakeMachine>();
  const crashes: Promise<unknown>[] = [];
  const seen = new Set<string>();
  let templates = '';
  let play: ReturnType<typeof playLine> | undefined;
  const started = await startLine(async (operation, at) => {
    if (seen.has(operation.operationId)) return false;
    seen.add(operation.operationId);
    await kill();
    await startProcess(templates);
    crashes.push(play?.(operation, at) as Promise<unknown>);
    return true;
  }, machines);
  templates = started.templates;
  play = playLine(started.line.agentsUrl, machines);
  const workflowId = await deploy(started.line, 'node-1');
  await expect
    .poll(() => workflow(started.line.call, workflowId).catch(() => ({ state: 'away' })), { timeout: 50_000 })
    .toMatchObject({ state: 'succeeded' });
  expect(seen.size).toBe(7);
  await Promise.all(crashes);
});

test('a centre that is killed at every operation of one step hands out none of them twice', {
  timeout: 60_000,
}, async () => {
  const machines = new Map<string, FakeMachine>();
  const asked: string[] = [];
  let crashing = false;
  const act = async (operation: Operation, at: FakeSite) => {
    if (operation.action !== 'inventory.refresh') return play(operation, at);
    await at.report({
      results: [await signedSuccess(operation, machines.get('node-2') ?? {}, { sections: inventory })],
    });
  };
  const started = await startLine(async (operation, at) => {
    if (!crashing) return false;
    asked.push(operation.action);
    await kill();
    await startProcess(started.templates);
    await act(operation, at);
    return true;
  }, machines);
  const play = playLine(started.line.agentsUrl, machines);
  const { line } = started;
  await enroll(line, 'node-2', '52:54:00:00:00:02', { bmc });
  const node = { tenantId: 'root', nodeId: 'node-2' };
  await follow(line.call, (await line.call<{ workflowId: string }>('nodes.get', node)).data.workflowId);
  crashing = true;
  const { workflowId } = (await line.call<{ workflowId: string }>('metal.inspect', node)).data;
  await expect
    .poll(() => workflow(line.call, workflowId).catch(() => ({ state: 'away' })), { timeout: 50_000 })
    .toMatchObject({ state: 'succeeded', steps: [{ attempt: 1 }, { attempt: 1 }, { attempt: 1 }] });
  expect(asked).toEqual([
    'management.setBootDevice',
    'boot.prepareRamdisk',
    'power.setPower',
    'inventory.refresh',
    'boot.cleanUp',
  ]);
});
