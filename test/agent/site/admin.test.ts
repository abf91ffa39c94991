import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { type AdminParts, adminRoutes, createAdminDoor } from '#agent/site/admin/routes.ts';
import { pageOf } from '#agent/site/cache/inventoryRoute.ts';
import { silentLog } from '#base/log.ts';
import { anyone } from '#doors/routes.ts';
import { type Bench, mac, nodeId, prepared, setUpBench, siteId } from './bench/bench.ts';
import { leaseTo } from './bench/leases.ts';
import { fetchScript, newMachine, tokenIn } from './bench/scriptedMachine.ts';

const get = async (bench: Bench, route: string) => (await fetch(`${bench.adminUrl}${route}`)).json();

test('health, and the same over the local socket', async () => {
  const bench = await prepared(await setUpBench());
  expect(await get(bench, '/healthz')).toMatchObject({ status: 'ok', siteId });
  const socketPath = path.join(bench.directory, 'state', 'bcd.sock');
  const answer = await new Promise<string>((resolve) => {
    httpRequest({ socketPath, path: '/healthz' }, async (response) => resolve(await text(response))).end();
  });
  expect(JSON.parse(answer)).toMatchObject({ status: 'ok', siteId });
});

test('the image inventory has an ETag, and 304 while nothing changed', async () => {
  const bench = await prepared(await setUpBench());
  const url = `${bench.adminUrl}/v1/inventory/images`;
  const first = await fetch(url);
  expect(await first.json()).toMatchObject({ images: [{ digest: bench.ramdisk.digest, state: 'ready' }] });
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[^"]+"$/);
  expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
  expect((await fetch(url, { headers: { 'if-none-match': '"older"' } })).status).toBe(200);
});

test('the inventory comes in pages, each with an ETag of its own', async () => {
  const bench = await prepared(await setUpBench());
  const url = `${bench.adminUrl}/v1/inventory/images`;
  const page = await fetch(`${url}?limit=1`);
  expect(await page.json()).toEqual({ images: [expect.objectContaining({ digest: bench.ramdisk.digest })] });
  const etag = page.headers.get('etag') ?? '';
  expect(etag).not.toBe((await fetch(url)).headers.get('etag'));
  expect((await fetch(`${url}?limit=1`, { headers: { 'if-none-match': etag } })).status).toBe(304);
  const next = await fetch(`${url}?limit=1&cursor=${bench.ramdisk.digest}`);
  expect(await next.json()).toEqual({ images: [] });
  expect((await fetch(`${url}?cursor=../..`)).status).toBe(400);
});

test('a page goes on after its cursor, whether that image is there still or not', () => {
  const rows = ['a', 'b', 'd', 'e'].map((digest) => ({ digest, ref: digest, state: 'ready' as const }));
  const digests = (limit: number | undefined, cursor?: string) => {
    const page = pageOf(rows, limit, cursor);
    return [page.images.map(({ digest }) => digest).join(''), page.cursor];
  };
  expect(digests(2)).toEqual(['ab', 'b']);
  expect(digests(2, 'b')).toEqual(['de', undefined]);
  expect(digests(1, 'c')).toEqual(['d', 'd']);
  expect(digests(undefined)).toEqual(['abde', undefined]);
  expect(digests(4)).toEqual(['abde', undefined]);
});

test('a machine has its node and the timeline of its boots', async () => {
  const bench = await prepared(await setUpBench());
  await fetchScript(bench, mac);
  await leaseTo(bench, '02:00:00:00:00:99', '127.77.0.11');
  const uuid = '&uuid=00000000-0000-0000-0000-0000000000aa';
  await fetchScript(bench, '02:00:00:00:00:99', { more: uuid, from: '127.77.0.11' });
  const { machines } = (await get(bench, '/v1/machines')) as { machines: { mac: string; nodeId?: string }[] };
  expect(machines.map((machine) => machine.mac)).toEqual([mac, '02:00:00:00:00:99']);
  expect(await get(bench, `/v1/machines/${mac}`)).toMatchObject({
    nodeId,
    timeline: [{ type: 'boot.script', nodeId }],
  });
  const stranger = (await get(bench, '/v1/machines/02-00-00-00-00-99')) as { timeline: { type: string }[] };
  expect(stranger.timeline.map((event) => event.type)).toContain('machine.discovered');
});

test('the timeline shows a join without its boot token', async () => {
  const bench = await prepared(await setUpBench());
  const token = tokenIn(await fetchScript(bench, mac));
  await (await newMachine(bench)).join(token, mac);
  const shown = await (await fetch(`${bench.adminUrl}/v1/machines/${mac}`)).text();
  expect(shown).toContain('"agent.joined"');
  expect(shown).not.toContain(token);
});

test('what a console printed is shown to those who own the agent, not to whoever reaches the admin listener', async () => {
  const printed = { type: 'console.output', text: 'Password: hunter2', recordingId: 'rec_1', mac, at: '' };
  const state = { events: { timeline: () => [printed] }, spec: { nodeByMac: () => undefined } };
  const parts = { state, log: silentLog() } as unknown as AdminParts;
  const door = createAdminDoor(parts, anyone);
  onTestFinished(() => door.close());
  const shown = (await door.inject(`/v1/machines/${mac}`)).json();
  expect(shown.timeline).toEqual([expect.objectContaining({ type: 'console.output' })]);
  expect(JSON.stringify(shown)).not.toContain('hunter2');
  const local = adminRoutes(parts, anyone).find(({ path }) => path === '/v1/machines/:mac');
  expect(
    JSON.stringify(await local?.answer({ params: { mac } } as never, {} as never, {} as never)),
  ).toContain('hunter2');
});

test('a stranger is told to the centre once, and the steps of its boots stay here', async () => {
  const bench = await prepared(await setUpBench());
  const stranger = '02:00:00:00:00:99';
  await leaseTo(bench, stranger, '127.77.0.11');
  for (let boot = 0; boot < 3; boot++) await fetchScript(bench, stranger, { from: '127.77.0.11' });
  const { centre } = bench;
  await centre.result(await centre.order('boot.cleanUp', nodeId, {}));
  const told = () => centre.events.filter((event) => event.mac === stranger).map(({ type }) => type);
  await centre.until(() => told().length > 0);
  expect(told()).toEqual(['machine.discovered']);
  const { machines } = (await get(bench, '/v1/discovery')) as { machines: object[] };
  expect(machines).toMatchObject([{ macs: [stranger], architecture: 'x86_64', boots: 0 }]);
});

test('status shows open operations and boot entries, metrics count them', async () => {
  const bench = await prepared(await setUpBench());
  expect(await get(bench, '/v1/status')).toMatchObject({
    generation: 1,
    bootEntries: [{ nodeId }],
    resultsUntold: 0,
  });
  const metrics = await (await fetch(`${bench.adminUrl}/metrics`)).text();
  expect(metrics).toContain('bcd_boot_entries 1\n');
  expect(metrics).toContain('bcd_boot_troubles{trouble="not-accepted"} 0\n');
  expect(metrics).toContain('bcd_images{state="ready"} 1\n');
});

test('what only machines may ask is not found here', async () => {
  const bench = await prepared(await setUpBench());
  const answer = await fetch(`${bench.adminUrl}/v1/join`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
});
