import { expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { type AgentClient, agentClient, joinAs, pollOnce } from './fakeSite.ts';
import { deploy, follow, workflow } from './line.ts';
import { metalStage, nodeRecord, runMetal } from './metalStage.ts';
import { sampleProfile } from './sampleProfile.ts';
import type { Stage } from './stage.ts';

const nodeId = 'node-2';

/** The agent of the OS on `node-2`, joined before. */
async function joinedNode({ line }: Stage): Promise<{ client: AgentClient }> {
  const { token } = await onHost(line.directory, ({ store }) =>
    createJoinToken(store, { role: 'node', nodeId, validMs: 60_000 }),
  );
  const credentials = await joinAs(line.agentsUrl, 'node', nodeId, token);
  return { client: agentClient(line.agentsUrl, credentials.wellKnown.servingCa, credentials) };
}

const begins = (use: string) => (event: { type: string; text: string }) =>
  event.type === 'step.started' && event.text === use;

test('unrescue ends when the OS that joined before polls again, and the node is active', async () => {
  const stage = await metalStage();
  const { call } = stage.line;
  await follow(call, await deploy(stage.line, nodeId));
  const node = await joinedNode(stage);
  await pollOnce(node, { observedGeneration: 0, taken: [], waitSeconds: 0 });
  await runMetal(stage, 'rescue');
  const { data } = await call<{ workflowId: string }>('metal.unrescue', { tenantId: 'root', nodeId });
  await follow(call, data.workflowId, begins('wait.agentJoined'));
  expect(await workflow(call, data.workflowId)).toMatchObject({ state: 'running' });
  await pollOnce(node, { observedGeneration: 0, taken: [], waitSeconds: 0 });
  await follow(call, data.workflowId);
  expect(await workflow(call, data.workflowId)).toMatchObject({ state: 'succeeded' });
  expect(await nodeRecord(stage)).toMatchObject({ state: 'active', role: 'host' });
  await node.client.close();
});

test('wait.generationObserved ends when the node says that it has observed its desired state', async () => {
  const stage = await metalStage();
  const { call } = stage.line;
  const node = await joinedNode(stage);
  const steps = [{ use: 'wait.generationObserved' }];
  const document = { ...sampleProfile, id: 'waits', userData: undefined, steps };
  await call('profiles.create', { tenantId: 'root', document });
  const workflowId = await deploy(stage.line, nodeId, { profileId: 'waits' });
  await follow(call, workflowId, begins('wait.generationObserved'));
  const { spec } = await pollOnce(node, { observedGeneration: 0, taken: [], waitSeconds: 0 });
  expect(await workflow(call, workflowId)).toMatchObject({ state: 'running' });
  await pollOnce(node, { observedGeneration: spec?.generation ?? 0, taken: [], waitSeconds: 0 });
  await follow(call, workflowId);
  expect(await workflow(call, workflowId)).toMatchObject({
    state: 'succeeded',
    steps: [{ result: { observedGeneration: spec?.generation } }, {}],
  });
  await node.client.close();
});

test('retire revokes the certificate of the OS and its join tokens, used or not', async () => {
  const stage = await metalStage();
  const node = await joinedNode(stage);
  const unused = await onHost(stage.line.directory, ({ store }) =>
    createJoinToken(store, { role: 'node', nodeId, validMs: 60_000 }),
  );
  const { ended } = await runMetal(stage, 'retire');
  expect(ended.steps.find(({ use }) => use === 'metal.revokeIdentity')?.result).toMatchObject({
    joinTokens: 2,
    certificates: 1,
  });
  await expect(pollOnce(node, { observedGeneration: 0, taken: [], waitSeconds: 0 })).rejects.toThrow(
    /poll answered 401/,
  );
  await expect(joinAs(stage.line.agentsUrl, 'node', nodeId, unused.token)).rejects.toThrow(
    /join answered 401/,
  );
  await node.client.close();
});

test('after undeploy the OS that was there is let in no more, and the next one is', async () => {
  const stage = await metalStage();
  await follow(stage.line.call, await deploy(stage.line, nodeId));
  const former = await joinedNode(stage);
  await runMetal(stage, 'undeploy', { mode: 'quick' });
  const idle = { observedGeneration: 0, taken: [], waitSeconds: 0 };
  await expect(pollOnce(former, idle)).rejects.toThrow(/poll answered 401/);
  const next = await joinedNode(stage);
  await expect(pollOnce(next, idle)).resolves.toBeDefined();
  await Promise.all([former.client.close(), next.client.close()]);
});
