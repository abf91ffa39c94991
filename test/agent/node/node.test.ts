import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readNodeConfig } from '#agent/node/config.ts';
import { startNode } from '#agent/node/node.ts';
import { startTestCentre, type TestCentre } from '../../central/centre.ts';
import { enroll, type Line, prepareLine } from '../../central/line.ts';
import { joinNode } from './joinNode.ts';

let centre: TestCentre;
let line: Line;
let directory: string;

beforeEach(async () => {
  centre = await startTestCentre();
  const { call, central } = centre;
  line = await prepareLine({ call, agentsUrl: central.agentsUrl, directory: centre.directory });
  await enroll(line, 'node-1', '52:54:00:00:00:01');
  directory = await mkdtemp(path.join(tmpdir(), 'railhead-node-'));
  await joinNode(line, 'node-1', directory);
});
afterEach(async () => {
  await centre.close();
  await rm(directory, { recursive: true });
});

async function config(text = '') {
  const file = path.join(directory, 'config.toml');
  await writeFile(file, `stateDirectory = "${directory}"\nlogLevel = "silent"\n${text}`);
  return readNodeConfig(file);
}

interface SpecProgress {
  generation: number;
  observedGeneration: number;
}

async function specProgress(): Promise<SpecProgress | undefined> {
  const node = await line.call<{ spec?: SpecProgress }>('nodes.get', { tenantId: 'root', nodeId: 'node-1' });
  return node.data.spec;
}

test('a joined node observes its desired state, and keeps it over a restart', async () => {
  const first = await startNode(await config());
  await expect.poll(async () => (await specProgress())?.observedGeneration, { timeout: 10_000 }).toBe(1);
  await first.close();
  const kept = JSON.parse(await readFile(path.join(directory, 'spec.json'), 'utf8'));
  expect(kept).toMatchObject({ nodeId: 'node-1', role: 'node', generation: 1 });
  const second = await startNode(await config());
  await expect.poll(specProgress).toMatchObject({ generation: 1, observedGeneration: 1 });
  await second.close();
});

test('a boot of its OS is a join of the node, once', async () => {
  type Node = { agent?: { bootId?: string; joinedAt: string } };
  const agent = async () =>
    (await line.call<Node>('nodes.get', { tenantId: 'root', nodeId: 'node-1' })).data.agent;
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  const first = await startNode(await config());
  await expect.poll(async () => (await agent())?.bootId, { timeout: 10_000 }).toBe(bootId);
  const { joinedAt } = (await agent()) ?? {};
  await first.close();
  const second = await startNode(await config());
  await expect.poll(async () => (await specProgress())?.observedGeneration).toBe(1);
  expect((await agent())?.joinedAt).toBe(joinedAt);
  await second.close();
});

test('a node that has not joined says so', async () => {
  const elsewhere = await mkdtemp(path.join(tmpdir(), 'railhead-node-'));
  const nowhere = { ...(await config()), stateDirectory: elsewhere };
  await expect(startNode(nowhere)).rejects.toThrow("this node has not joined: run 'bcd join' first");
  await rm(elsewhere, { recursive: true });
});

test('without a configuration file every default holds; what is wrong in one is named', async () => {
  expect(await readNodeConfig('/nonexistent/config.toml')).toEqual({
    stateDirectory: '/var/lib/bcd',
    logLevel: 'info',
    central: {},
  });
  await expect(config('[central]\nurl = "http://centre"')).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: 'central.url' },
  });
});
