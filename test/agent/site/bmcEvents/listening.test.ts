import { expect, onTestFinished, test } from 'vitest';
import { Listening } from '#agent/site/bmcEvents/listening.ts';
import { Posting } from '#agent/site/bmcEvents/posting.ts';
import type { MachineDriver } from '#agent/site/drivers/driver.ts';
import { createBmcs } from '#agent/site/operations/bmcs.ts';
import { silentLog } from '#base/log.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { BmcEvents } from '#redfish/events/events.ts';

const node: SiteNode = {
  nodeId: 'node-1',
  macs: ['52:54:00:00:00:01'],
  bmc: { driver: 'redfish', address: 'https://192.0.2.1', credentialRef: 'secret://bmc/1' },
};

function bmcsWith(events: Partial<BmcEvents>) {
  const bmc = { events: { isStreaming: () => true, ...events }, close: async () => {} };
  const bmcs = createBmcs({ open: async () => bmc as unknown as MachineDriver, log: silentLog() });
  onTestFinished(() => bmcs.close());
  return bmcs;
}

/** The books of one node's subscription. */
function books(place?: string) {
  const kept = { place };
  const keepPlace = (_nodeId: string, prefix: string | undefined) => {
    kept.place = prefix;
  };
  return { kept, hooks: { placeOf: () => kept.place, keepPlace } };
}

test('a BMC that never begins its stream holds up no operation', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<undefined>();
  const bmcs = bmcsWith({
    stream: async () => {
      resolve();
      return begun;
    },
  });
  const parts = { bmcs, ...books(), mode: 'auto', checkMs: 1000, log: silentLog() } as const;
  const listening = new Listening(node, 0, { ...parts, look: () => {}, say: () => {} });
  await asked;
  expect(await bmcs.use(node, async () => 'an operation')).toBe('an operation');
  begin(undefined);
  await listening.close({ forget: false });
});

test('a subscription at an older URL that cannot be deleted now stays in the books until it can be', async () => {
  let isAway = true;
  const deleted: string[] = [];
  const bmcs = bmcsWith({
    subscribe: async () => 'made',
    unsubscribe: async (prefix) => {
      if (isAway) throw new Error('away');
      deleted.push(prefix);
    },
  });
  const { kept, hooks } = books('https://old/');
  const posting = new Posting(() => node, { bmcs, hooks, log: silentLog() });
  const hook = { destination: 'https://new/token', prefix: 'https://new/', context: 'token' };
  await expect(posting.subscribe(hook)).rejects.toThrow('away');
  expect(kept.place).toBe('https://old/');
  isAway = false;
  expect(await posting.subscribe(hook)).toBe('made');
  expect([deleted, kept.place]).toEqual([['https://old/'], 'https://new/']);
});
