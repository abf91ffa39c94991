import { expect, test } from 'vitest';
import { enroll, follow } from './line.ts';
import { bmc, metalStage, nodeRecord, runMetal } from './metalStage.ts';
import type { Stage } from './stage.ts';

/** `node-3` in a pool whose machines never run bcd. */
async function oobStage(answers: Parameters<typeof metalStage>[0] = {}): Promise<Stage> {
  const stage = await metalStage(answers);
  const { call, siteId } = stage.line;
  const pool = { tenantId: 'root', siteId, policy: { agent: 'none' } };
  const { poolId } = (await call<{ poolId: string }>('pools.create', pool)).data;
  await enroll({ ...stage.line, poolId }, 'node-3', '52:54:00:00:00:03', { bmc });
  await follow(call, (await nodeRecord(stage, 'node-3')).workflowId as string);
  return stage;
}

const nodeId = 'node-3';

test('machines that never run bcd are inspected, commissioned and retired by their BMC alone', async () => {
  const stage = await oobStage();
  const run = async (name: string) => {
    const { ended, node } = await runMetal(stage, name, { nodeId });
    return [ended.profileId, ended.steps.map(({ use, state }) => `${use} ${state}`), node.state];
  };
  expect(await run('inspect')).toEqual(['metal-inspect-oob', ['inspect.oob succeeded'], 'enrolled']);
  expect(await run('commission')).toEqual(['metal-commission-oob', ['power.setPower succeeded'], 'ready']);
  expect(await run('retire')).toEqual([
    'metal-retire-oob',
    ['power.setPower succeeded', 'metal.revokeIdentity succeeded'],
    'retired',
  ]);
});

test('such a machine is deployed by an iso; a release ejects it, then powers off, and the mode of a wipe means nothing', async () => {
  const stage = await oobStage();
  const steps = [
    { use: 'media.insert', with: { url: 'https://isos.example.com/installer.iso' } },
    { use: 'management.setBootDevice', with: { device: 'cd' } },
    { use: 'power.setPower', with: { action: 'cycle' } },
  ];
  const document = { id: 'oob', version: 1, target: 'metal', steps };
  await stage.line.call('profiles.create', { tenantId: 'root', document });
  expect((await runMetal(stage, 'deploy', { nodeId, profileId: 'oob' })).node).toMatchObject({
    state: 'active',
  });
  const { ended, node } = await runMetal(stage, 'undeploy', { nodeId, mode: 'crypto-erase' });
  expect(ended.steps.map(({ use }) => use)).toEqual(['media.eject', 'power.setPower']);
  expect(node).toMatchObject({ state: 'ready' });
});

test('rescue on such a pool fails the node with UNSUPPORTED', async () => {
  const stage = await oobStage();
  const document = { id: 'oob', version: 1, target: 'metal', steps: [{ use: 'power.getPower' }] };
  await stage.line.call('profiles.create', { tenantId: 'root', document });
  await runMetal(stage, 'deploy', { nodeId, profileId: 'oob' });
  const error = { code: 'UNSUPPORTED', details: { reason: 'agent-none' } };
  const { ended, node } = await runMetal(stage, 'rescue', { nodeId });
  expect(ended).toMatchObject({ state: 'failed', error });
  expect(node).toMatchObject({ state: 'failed', failedFrom: 'rescue', error });
});
