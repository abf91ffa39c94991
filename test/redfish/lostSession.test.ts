import { expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { openBmc } from '#redfish/bmc.ts';
import { openSession } from '#redfish/lostSession.ts';
import type { BmcMemory } from '#redfish/memory.ts';
import { type Bench, startBench, user } from './bmcBench.ts';

const sessions = '/redfish/v1/SessionService/Sessions';

/** A BMC at which an agent has a session open, and is killed; `again` is the next one. */
async function killedAgent(): Promise<Bench & { memory: BmcMemory; again(): ReturnType<typeof openBmc> }> {
  const memory: BmcMemory = {};
  const bench = await startBench({}, [], { memory });
  await bench.bmc.getPower();
  const { address, certificateSha256 } = bench.running;
  const kept: BmcMemory = structuredClone(memory);
  const again = () =>
    openBmc({ address, certificateSha256, ...user, log: silentLog(), clock: bench.clock, memory: kept });
  return { ...bench, memory: kept, again };
}

test('a session that a killed agent left behind is ended by the next one', async () => {
  const { fake, again, memory } = await killedAgent();
  const next = again();
  await next.getPower();
  expect([...fake.sessions]).toEqual(['2']);
  await next.close();
  expect(fake.sessions.size).toBe(0);
  expect(memory.session).toBeUndefined();
});

test('it is ended also when the BMC has no session left for the next one', async () => {
  const { fake, again } = await killedAgent();
  fake.sessionLimit = 1;
  const next = again();
  await next.getPower();
  expect(fake.sessions.size).toBe(0);
  await next.close();
});

test.each([
  ['made at another time', { UserName: user.username, CreatedTime: '2026-11-30T00:00:00Z' }],
  ['of another user', { UserName: 'somebody', CreatedTime: '2026-11-29T12:00:01Z' }],
])('a session of the same name %s stays', async (_, stranger) => {
  const { fake, again } = await killedAgent();
  fake.tree[`${sessions}/1`] = stranger;
  const next = again();
  await next.getPower();
  await next.close();
  expect([...fake.sessions]).toEqual(['1']);
  expect(fake.sent('DELETE', `${sessions}/1`)).toEqual([]);
});

test('a BMC that fails meanwhile is driven all the same', async () => {
  const { fake, again } = await killedAgent();
  fake.faults.push(({ method, path }) =>
    method === 'GET' && path === `${sessions}/1` ? 'hang up' : undefined,
  );
  const next = again();
  expect(await next.getPower()).toBe('off');
  await next.close();
});

test.each([
  [`${sessions}/7`, {}, undefined],
  [`${sessions}/7`, { CreatedTime: '2026-11-29T12:00:00Z' }, { createdAt: '2026-11-29T12:00:00Z' }],
  [`${sessions}/b9FqZ2Lx7a`, {}, {}],
])('%s with %j is remembered as %j', (path, body, expected) => {
  expect(openSession(path, body)).toEqual(expected && { path, ...expected });
});
