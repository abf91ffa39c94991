import { afterAll, beforeAll, expect, test } from 'vitest';
import { findSpec } from '#central/agents/nodeSpec.ts';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import type { NodeSpecContent } from '#contract/nodeSpec.ts';
import { agentClient, joinAs, pollOnce } from './fakeSite.ts';
import { deploy, follow } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { type Stage, setStage } from './stage.ts';

const hostConfig = { sysctl: { 'net.core.somaxconn': 4096 }, iommu: { passthrough: true } };
/** The boot entries that the site was told of, poll by poll. */
const entriesDuring: number[] = [];
let stage: Stage;

beforeAll(async () => {
  stage = await setStage(
    async (operation, site) => {
      if (operation.action === 'deploy.image' || operation.action === 'boot.cleanUp')
        entriesDuring.push(await statedEntries(site.siteId));
      return false;
    },
    { ...sampleProfile, hostConfig },
  );
});
afterAll(() => stage.close());

/** What the books say that the site is to serve now. */
function statedEntries(siteId: string): Promise<number> {
  return onHost(stage.line.directory, async ({ store }) => {
    const rows = await store.selectFrom('boot_entries').selectAll().where('site_id', '=', siteId).execute();
    return rows.length;
  });
}

async function joinedNode(nodeId: string) {
  const { directory, agentsUrl } = stage.line;
  const { token } = await onHost(directory, ({ store }) =>
    createJoinToken(store, { role: 'node', nodeId, validMs: 60_000 }),
  );
  const credentials = await joinAs(agentsUrl, 'node', nodeId, token);
  return { client: agentClient(agentsUrl, credentials.wellKnown.servingCa, credentials) };
}

test("a node polls its own NodeSpec, with the machine's driver bindings", async () => {
  const { line } = stage;
  const bmc = { address: 'https://10.78.0.12', credentialRef: 'secret://bmc/2' };
  const { siteId, poolId } = line;
  await line.call('metal.enroll', {
    tenantId: 'root',
    siteId,
    poolId,
    nodeId: 'node-2',
    macs: ['52:54:00:00:00:02'],
    bmc,
  });
  const node = await joinedNode('node-2');
  const { spec } = await pollOnce(node, { observedGeneration: 0, taken: [] });
  const binding = { driver: 'redfish', config: bmc };
  expect(spec).toEqual({
    nodeId: 'node-2',
    role: 'node',
    generation: 1,
    drivers: { power: binding, management: binding, 'virtual-media': binding },
  });
  await node.client.close();
});

test('the host section appears when the workflow has succeeded, and the generation grows once', async () => {
  const node = await joinedNode('node-1');
  const before = await pollOnce(node, { observedGeneration: 0, taken: [] });
  expect(before.spec?.host).toBeUndefined();
  await follow(stage.line.call, await deploy(stage.line, 'node-1'));
  const observedGeneration = before.spec?.generation ?? 0;
  const after = await pollOnce(node, { observedGeneration, taken: [] });
  expect(after.spec?.generation).toBe(observedGeneration + 1);
  expect(after.spec?.host?.units).toEqual(
    expect.arrayContaining([
      { unit: 'sysctl', settings: hostConfig.sysctl },
      { unit: 'iommu', settings: hostConfig.iommu },
    ]),
  );
  const again = await pollOnce(node, {
    observedGeneration: observedGeneration + 1,
    taken: [],
    waitSeconds: 0,
  });
  expect(again).toEqual({ protocol: 1, operations: [], cancelled: [] });
  await node.client.close();
});

test("a machine's boot entry is part of its site's NodeSpec from prepareRamdisk to cleanUp", () => {
  expect(entriesDuring).toEqual([1, 0]);
});

test('a node hears of its new host section while its poll waits', async () => {
  const node = await joinedNode('node-1');
  const { spec } = await pollOnce(node, { observedGeneration: 0, taken: [] });
  const waiting = pollOnce(node, {
    observedGeneration: spec?.generation ?? 0,
    taken: [],
    waitSeconds: 30,
  });
  const { call } = stage.line;
  const document = { ...sampleProfile, version: 2, hostConfig: { hugepages: { pages2m: 16 } } };
  await call('profiles.create', { tenantId: 'root', document });
  await follow(call, await deploy(stage.line, 'node-1', { profileVersion: 2 }));
  expect((await waiting).spec?.host?.units).toEqual([{ unit: 'hugepages', settings: { pages2m: 16 } }]);
  await node.client.close();
});

test("a pool's unit replaces the profile's, and its nodes hear of it at once", async () => {
  const node = await joinedNode('node-1');
  const { spec } = await pollOnce(node, { observedGeneration: 0, taken: [] });
  const waiting = pollOnce(node, { observedGeneration: spec?.generation ?? 0, taken: [], waitSeconds: 30 });
  const { call, poolId } = stage.line;
  const { data: pool } = await call<{ policy: object }>('pools.get', { tenantId: 'root', poolId });
  const policy = { ...pool.policy, hugepages: { pages1g: 4 }, iommu: {} };
  await call('pools.update', { tenantId: 'root', poolId, policy });
  expect((await waiting).spec?.host?.units).toEqual([
    { unit: 'hugepages', settings: { pages1g: 4 } },
    { unit: 'iommu', settings: { passthrough: true } },
  ]);
  await node.client.close();
});

test.each<[string, object]>([
  ['policy.cpu.isolate', { cpu: { isolate: '0-3' } }],
  ['policy.cpu.isolate', { cpu: { isolate: '9-3' } }],
  ['policy.iommu.when', { iommu: { when: '(' } }],
  ['policy.gpu.powerLimitWatts', { gpu: { powerLimitWatts: 0 } }],
  ['policy.gpuSharing.mode', { gpuSharing: { mode: 'vgpu' } }],
])("a pool's units are checked as a profile's: %s", async (path, policy) => {
  const { call, siteId } = stage.line;
  expect(await call('pools.create', { tenantId: 'root', siteId, policy })).toMatchObject({
    status: 400,
    error: { code: 'INVALID_INPUT', details: { path } },
  });
});

test('quirks of a node and of its pool reach the site together, and go when they are taken away', async () => {
  const { call, siteId, poolId, directory } = stage.line;
  const quirksAtSite = () =>
    onHost(directory, async ({ store }) => {
      const spec = await findSpec(store, { role: 'site', id: siteId });
      const { site } = JSON.parse(spec?.content ?? '{}') as NodeSpecContent;
      return site?.nodes.find(({ nodeId }) => nodeId === 'node-1')?.bootQuirks;
    });
  const node = { tenantId: 'root', nodeId: 'node-1' };
  const own = { 'uefi-pxe': ['discovery-control'] };
  expect((await call('nodes.setBootQuirks', { ...node, bootQuirks: own })).data).toMatchObject({
    bootQuirks: own,
  });
  const { policy } = (await call('pools.get', { tenantId: 'root', poolId })).data as { policy: object };
  const ofPool = { 'uefi-pxe': ['no-option-67'], ipxe: ['chain-ipxe'] };
  await call('pools.update', { tenantId: 'root', poolId, policy: { ...policy, bootQuirks: ofPool } });
  const both = { 'uefi-pxe': ['discovery-control', 'no-option-67'], ipxe: ['chain-ipxe'] };
  await expect.poll(quirksAtSite).toEqual(both);
  await call('nodes.setBootQuirks', { ...node, bootQuirks: {} });
  await call('pools.update', { tenantId: 'root', poolId, policy });
  await expect.poll(quirksAtSite).toBeUndefined();
});

test('a quirk that is none is refused by its name', async () => {
  const bootQuirks = { any: ['no-such-quirk'] };
  expect(
    await stage.line.call('nodes.setBootQuirks', { tenantId: 'root', nodeId: 'node-1', bootQuirks }),
  ).toMatchObject({ error: { code: 'INVALID_INPUT', details: { path: 'bootQuirks.any[0]' } } });
});
