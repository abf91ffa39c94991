import { rm } from 'node:fs/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Log } from '#base/log.ts';
import { makeCentre, onHost } from '#central/host.ts';
import { type Central, startCentral } from '#central/start.ts';
import { apiClient, type Call, mintToken, newSite } from '../centre.ts';
import { centreDirectory } from '../directory.ts';
import { testTimes } from '../times.ts';
import { addLargeTable } from './largeTable.ts';

const events = 100_000;
const old = 6_000;

interface Page {
  items: { eventId: string }[];
  cursor: string;
}

let directory: string;
let central: Central;
let call: Call;
const lines: { msg: string; removed?: object }[] = [];
const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) }) as unknown as Log;
const removals = () => lines.flatMap(({ removed }) => (removed === undefined ? [] : [removed]));

beforeAll(async () => {
  directory = await centreDirectory();
  await makeCentre(directory);
  const { siteId } = await newSite(directory, 'lab');
  await onHost(directory, ({ store }) => addLargeTable(store, { nodeId: 'node-1', siteId, events, old }));
  const token = await mintToken(directory, ['compute:*@compute-fleet:*']);
  const local = { host: '127.0.0.1', port: 0 };
  central = await startCentral({
    ...{ directory, api: local, agents: local, names: ['127.0.0.1'], log },
    times: { ...testTimes, removeEveryMs: 500 },
    rates: { token: { perSecond: 100_000, burst: 100_000 } },
  });
  call = apiClient(central.apiUrl, token);
}, 60_000);
afterAll(async () => {
  await central.close();
  await rm(directory, { recursive: true });
});

/** How long calls take in milliseconds, one after the other, until `done`. */
async function callsUntil(done: () => boolean, make: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  while (!done()) {
    const from = performance.now();
    await make();
    took.push(performance.now() - from);
  }
  return took.toSorted((a, b) => a - b);
}

test('old events go from a large table in one round, which holds up no call, and no cursor', async () => {
  const ask = async (more: object) =>
    (await call<Page>('nodes.events', { tenantId: 'root', nodeId: 'node-1', limit: 2, ...more })).data;
  const { cursor } = await ask({});
  const took = await callsUntil(
    () => removals().length > 0,
    () => ask({ last: 2 }),
  );
  expect(removals()).toEqual([{ consoleOutput: old / 2, machineEvents: old / 2 }]);
  // On a machine that does other things as well: a call takes a few milliseconds, a batch some more.
  expect(took[Math.floor(took.length / 2)]).toBeLessThan(50);
  expect(took.at(-1)).toBeLessThan(1_000);
  const next = [`large/${old + 1}`, `large/${old + 2}`];
  expect((await ask({ cursor })).items.map(({ eventId }) => eventId)).toEqual(next);
  expect((await ask({})).items.map(({ eventId }) => eventId)).toEqual(next);
}, 30_000);
