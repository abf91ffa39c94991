import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { join } from '#agent/join/join.ts';
import { startNode } from '#agent/node/node.ts';
import { onHost } from '#central/host.ts';
import { centralPins } from '#central/join/pins.ts';
import type { Profile } from '#contract/profiles.ts';
import { mustRegister, osImage } from '../../central/centre.ts';
import { deploy, follow, signedSuccess, workflow } from '../../central/line.ts';
import { nodeRecord } from '../../central/metalStage.ts';
import { instead, type Stage, setStage } from '../../central/stage.ts';
import { sampleVariables } from '../../central/userData/samples.ts';
import { readSample } from '../../library/samples.ts';

/** A machine with one NVIDIA GPU, whose OS has a `dcgmi`; the agent's state is in it too. */
let machine: string;

beforeAll(async () => {
  machine = await mkdtemp(path.join(tmpdir(), 'railhead-gpu-host-'));
  const gpu = path.join(machine, 'sys/bus/pci/devices/0000:01:00.0');
  await mkdir(gpu, { recursive: true });
  await writeFile(path.join(gpu, 'class'), '0x030200\n');
  await writeFile(path.join(gpu, 'vendor'), '0x10de\n');
  const tests = [{ name: 'software', results: [{ status: 'Pass' }] }];
  const report = { 'DCGM Diagnostic': { test_categories: [{ category: 'Deployment', tests }] } };
  await writeFile(path.join(machine, 'dcgmi'), `#!/bin/sh\necho '${JSON.stringify(report)}'\n`, {
    mode: 0o755,
  });
  vi.stubEnv('PATH', `${machine}:${process.env.PATH}`);
  return async () => {
    vi.unstubAllEnvs();
    await rm(machine, { recursive: true });
  };
});

/** The document of the specification's sample, as one would store it. */
async function sampleDocument(): Promise<Profile> {
  const sample = await readSample('ubuntu-gpu-host');
  const literal = sample.slice(sample.indexOf('defineProfile(') + 14, sample.lastIndexOf(')'));
  return runInNewContext(`(${literal})`);
}

/** What the OS does when it has started: it joins by the token of its user data, then its agent runs. */
async function startOs({ line, machines }: Stage, nodeId: string): Promise<void> {
  const [, token = ''] = /join-token\n.*\n\s+content: (\S+)/.exec(machines.get(nodeId)?.document ?? '') ?? [];
  const tokenFile = path.join(machine, 'token');
  await writeFile(tokenFile, token);
  const pins = await onHost(line.directory, async ({ keys }) => centralPins(keys));
  await join({ server: line.agentsUrl, tokenFile, nodeId, stateDirectory: machine, ...pins });
  const agent = await startNode({ stateDirectory: machine, logLevel: 'silent', central: {} }, machine);
  onTestFinished(() => agent.close());
}

test('the sample profile of the specification deploys a machine, and its acceptance tests the OS that it installed', async () => {
  const document = await sampleDocument();
  const { controlPlaneUrl, bcdUrl, bcdSha256 } = sampleVariables;
  const starts = instead('boot.kexec', async (operation, site) => {
    const ramdisk = stage.machines.get(operation.nodeId) ?? {};
    await site.report({ results: [await signedSuccess(operation, ramdisk, {})] });
    await startOs(stage, operation.nodeId);
  });
  const stage: Stage = await setStage(starts, document, {
    userData: { controlPlaneUrl, bcdUrl, bcdSha256 },
  });
  onTestFinished(() => stage.close());
  const { call, signer } = stage.line;
  const image = osImage({ ref: document.image?.ref ?? '', sha256: 'b'.repeat(64) });
  await mustRegister(call, signer.signed(image));
  expect(await call('profiles.validate', { tenantId: 'root', profileId: document.id })).toMatchObject({
    data: { valid: true, issues: [] },
  });
  const workflowId = await deploy(stage.line, 'node-1', { profileId: document.id });
  await follow(call, workflowId);
  const { state, error, steps } = await workflow(call, workflowId);
  expect({ state, error }).toEqual({ state: 'succeeded' });
  expect(steps.slice(-2)).toMatchObject([
    { use: 'diag.dcgm', result: { level: 1, gpus: 1, tests: [{ name: 'software', status: 'passed' }] } },
    { use: 'boot.cleanUp', state: 'succeeded' },
  ]);
  expect(stage.site.taken.map(({ action }) => action)).not.toContain('diag.dcgm');
  expect(await nodeRecord(stage, 'node-1')).toMatchObject({ state: 'active', role: 'host' });
  const kept = await onHost(stage.line.directory, ({ store }) =>
    store.selectFrom('nodes').select('host_config').where('node_id', '=', 'node-1').executeTakeFirstOrThrow(),
  );
  expect(JSON.parse(kept.host_config ?? '{}')).toEqual(document.hostConfig);
});
