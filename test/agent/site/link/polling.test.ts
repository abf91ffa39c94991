import { expect, test } from 'vitest';
import { polling } from '#agent/site/link/polling.ts';
import { silentLog } from '#base/log.ts';
import { type AgentPollAnswer, protocolVersion } from '#contract/agentWire.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Operation } from '#contract/operations.ts';

const digest = 'ab'.repeat(32);

function operation(action: string, input: Operation['input']): Operation {
  return {
    operationId: `op_${action}`,
    nodeId: 'node_1',
    target: 'ramdisk',
    action,
    input,
    expiresAt: '2999-01-01T00:00:00Z',
  };
}

/** One poll of a site that is answered with these operations; what it did, in order. */
async function pollOnce(operations: Operation[], more: Partial<AgentPollAnswer> = {}): Promise<string[]> {
  const did: string[] = [];
  const answer: AgentPollAnswer = { protocol: protocolVersion, operations, cancelled: [], ...more };
  const wake = (name: string) => ({ wake: () => void did.push(`wake ${name}`) });
  const poll = polling({
    siteId: 'site_1',
    client: { poll: async () => answer },
    state: {
      journal: {
        receive: (taken: Operation[]) => void did.push(`journal ${taken.length}`),
        cancel: () => [],
      },
      spec: { generation: () => 0 },
    },
    trust: { known: () => ({}), take: async () => {} },
    cache: {
      ready: async (wanted: string) => {
        did.push(`fetch ${wanted}`);
        throw new RailheadError('NOT_FOUND', 'not here');
      },
    },
    onOperations: (some: Operation[]) => void did.push(`told of ${some.length}`),
    executor: { wake: () => {}, cancel: () => {} },
    confirm: (operationId: string) => void did.push(`confirmed ${operationId}`),
    machines: wake('machines'),
    news: wake('news'),
    signal: new AbortController().signal,
    log: silentLog(),
  } as unknown as Parameters<typeof polling>[0]);
  await poll();
  return did;
}

test('a deploy starts a new try of its image before the machine is told, and after the journal has it', async () => {
  const did = await pollOnce([operation('deploy.image', { digest })]);
  expect(did).toEqual(['journal 1', 'told of 1', `fetch ${digest}`, 'wake machines', 'wake news']);
});

test('other operations fetch nothing', async () => {
  expect(await pollOnce([operation('boot.kexec', {})])).toEqual([
    'journal 1',
    'told of 1',
    'wake machines',
    'wake news',
  ]);
});

test("an operator's word at the centre is passed on", async () => {
  expect(await pollOnce([], { confirmed: ['op_1'] })).toEqual(['journal 0', 'told of 0', 'confirmed op_1']);
});
