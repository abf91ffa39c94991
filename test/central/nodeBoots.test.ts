import { afterEach, expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { agentClient, joinAs } from './fakeSite.ts';
import { deploy, follow, workflow } from './line.ts';
import { type Stage, setStage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

/** A profile that restarts a running machine and waits for the agent of its OS, as `remediate-reboot` does. */
const profile = {
  id: 'ubuntu-24.04-gpu-host',
  version: 1,
  target: 'metal',
  role: 'host',
  image: { ref: 'demo-os@1' },
  steps: [
    { use: 'power.setPower', with: { action: 'graceful-restart' } },
    { use: 'wait.agentJoined', with: { role: 'node' } },
  ],
};

/** The agent of node-1's OS, which has joined once. */
async function nodeAgent() {
  const { agentsUrl, directory } = stage.line;
  const { token } = await onHost(directory, ({ store }) =>
    createJoinToken(store, { role: 'node', nodeId: 'node-1', validMs: 60_000 }),
  );
  const credentials = await joinAs(agentsUrl, 'node', 'node-1', token);
  const client = agentClient(agentsUrl, credentials.wellKnown.servingCa, credentials);
  const poll = async (bootId: string) => {
    const message = { protocol: 1, observedGeneration: 1, waitSeconds: 0, taken: [], bootId };
    expect((await client.post('/v1/agent/poll', message)).status).toBe(200);
  };
  return { poll, close: () => client.close() };
}

test('who restarts a machine waits for the next boot of its OS, not for the last words of the old one', async () => {
  stage = await setStage(undefined, profile);
  const agent = await nodeAgent();
  await agent.poll('boot-1');
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId, (event) => event.text === 'wait.agentJoined');
  await agent.poll('boot-1');
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'running' });
  await agent.poll('boot-2');
  const events = await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
  expect(events.map(({ text }) => text)).toContain('the OS runs, boot boot-2');
  await agent.close();
});
