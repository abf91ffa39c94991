import { expect, test } from 'vitest';
import type { SeenMachine } from '#contract/seenMachine.ts';
import { metalStage } from './metalStage.ts';

const machine = (machineId: string, more: Partial<SeenMachine> = {}): SeenMachine => ({
  machineId,
  macs: [machineId],
  client: 'uefi-pxe',
  firstSeen: '2026-01-01T00:00:00.000Z',
  lastSeen: '2026-01-01T00:00:01.000Z',
  boots: 1,
  ...more,
});

// Case 28: the second port of a host is found out later.
test('what a site has seen is listed by pages, machines that turned out to be one as one, each with its node', async () => {
  const { line, site } = await metalStage({});
  const { call, siteId } = line;
  const list = async (input: object = {}) =>
    (await call<{ items: (SeenMachine & { nodeId?: string })[]; cursor?: string }>('discovery.list', input))
      .data;
  const [a, b, c] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:0c'] as const;
  await site.report({ machines: [machine(a), machine(b), machine(c)] });
  const first = await list({ siteId, limit: 2 });
  expect(first.items.map(({ machineId }) => machineId)).toEqual([a, b]);
  expect((await list({ siteId, limit: 2, cursor: first.cursor })).items).toMatchObject([
    { machineId: c, siteId },
  ]);

  await site.report({ machines: [machine(a, { macs: [a, b], boots: 3 })] });
  const { items } = await list();
  expect(items).toMatchObject([{ macs: [a, b], boots: 3 }, { machineId: c }]);

  const { data: node } = await call<{ macs: string[]; nodeId: string }>('nodes.get', {
    tenantId: 'root',
    nodeId: 'node-1',
  });
  const own = node.macs[0]!;
  await site.report({ machines: [machine(own)] });
  expect((await list()).items.find(({ machineId }) => machineId === own)?.nodeId).toBe('node-1');
  expect((await list({ unknown: true })).items.map(({ machineId }) => machineId)).toEqual([a, c]);
  expect(await call('discovery.list', { siteId: 'site_none' })).toMatchObject({ status: 404 });

  // A malformed machine is passed over, the rest is taken.
  await site.report({ machines: [{ ...machine(b), macs: [] }, machine('02:00:00:00:00:0d')] });
  expect((await list()).items).toHaveLength(4);
});
