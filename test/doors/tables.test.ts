import { expect, test } from 'vitest';
import { createAdminDoor, createLocalDoor } from '#agent/site/admin/routes.ts';
import { hookRoutes } from '#agent/site/bmcEvents/hookListener.ts';
import { machineRoutes } from '#agent/site/machines/routes.ts';
import { silentLog } from '#base/log.ts';
import { bootRoutes } from '#bootserver/http/routes.ts';
import { agentsRoutes } from '#central/agents/routes.ts';
import { openApiServer } from '#central/api/server.ts';
import { groups } from '#central/groups/index.ts';
import { defaultRates } from '#central/rates.ts';
import { anyone, servedBy } from '#doors/routes.ts';
import { attemptsAtAgents } from '../e2e/intruder/agents.ts';
import { attemptsAtApi } from '../e2e/intruder/api.ts';
import type { Attempt } from '../e2e/intruder/attempt.ts';
import { attemptsAtHook } from '../e2e/intruder/hook.ts';
import { attemptsAtMachines } from '../e2e/intruder/machines.ts';
import { attemptsAtAdmin, attemptsAtBoot, attemptsAtSocket } from '../e2e/intruder/open.ts';

// Whatever a listener serves, the intruder of test/e2e tries to get through: a route that it does not try fails here.

const url = 'http://127.0.0.1:1';
const log = silentLog();
const stop = new AbortController().signal;
const rowsOf = (table: { method: string; path: string }[]) =>
  table.map(({ method, path }) => `${method} ${path}`);
const tried = (attempts: readonly Attempt[]) => [...new Set(attempts.map(({ route }) => route))].sort();

test("every route of the centre's API is tried", async () => {
  const parts = { executable: { digest: '', sizeBytes: 0 } as never };
  const door = await openApiServer({ log, rates: defaultRates } as never, groups, parts, stop);
  await door.ready();
  expect(tried(attemptsAtApi(url, {} as never))).toEqual([...servedBy(door)].sort());
  await door.close();
});

test("every route of the centre's agents listener is tried", async () => {
  const loot = { wellKnown: {}, joinTokens: {}, revoked: {}, expired: {}, node: {}, foreign: {} } as never;
  const table = agentsRoutes({} as never, defaultRates.agent, stop);
  expect(tried(await attemptsAtAgents(url, loot))).toEqual(rowsOf(table).sort());
});

test("every route of a site's machine listener is tried", () => {
  const loot = { bootTokens: {}, sessions: {} } as never;
  expect(tried(attemptsAtMachines(url, loot))).toEqual(rowsOf(machineRoutes({} as never)).sort());
});

test("every route of a site's listener for BMCs is tried", () => {
  expect(tried(attemptsAtHook(url, { good: 'a', stale: 'b' }))).toEqual(
    rowsOf(hookRoutes({} as never)).sort(),
  );
});

test("every route of a site's boot listener is tried", () => {
  const table = bootRoutes({ script: '#!ipxe', httpUrl: url } as never);
  expect(tried(attemptsAtBoot(url, ''))).toEqual(table.map(({ path }) => `GET ${path}`).sort());
});

test("every route of a site's admin listener and local socket is tried, and the listener only reads", () => {
  const served = [...servedBy(createAdminDoor({ log } as never, anyone))].sort();
  expect(tried(attemptsAtAdmin(url))).toEqual(served);
  const local = [...servedBy(createLocalDoor({ log } as never))].sort();
  expect(tried(attemptsAtSocket(async () => ({ status: 0, text: '' })))).toEqual(local);
  expect(served.every((route) => route.startsWith('GET '))).toBe(true);
});

test('no door for machines serves what operators ask', () => {
  // The boot door has a health of its own.
  const operators = servedBy(createAdminDoor({ log } as never, anyone)).filter(
    (row) => row !== 'GET /healthz',
  );
  const boot = bootRoutes({ script: '#!ipxe', httpUrl: url } as never);
  const machines = [
    ...boot.map(({ path }) => `GET ${path}`),
    ...rowsOf(machineRoutes({} as never)),
    ...rowsOf(hookRoutes({} as never)),
  ];
  expect(operators.length).toBeGreaterThan(3);
  expect(machines.filter((row) => operators.includes(row))).toEqual([]);
});
