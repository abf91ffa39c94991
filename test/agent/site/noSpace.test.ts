import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Identity } from '#agent/join/identity.ts';
import { health } from '#agent/site/admin/health.ts';
import { bootTurns } from '#agent/site/bootTurns.ts';
import { createSiteDoor } from '#agent/site/http/door.ts';
import { localHosts } from '#agent/site/localHosts.ts';
import { openState, type SiteState } from '#agent/site/store/state.ts';
import { silentLog } from '#base/log.ts';
import type { MachineFacts } from '#bootserver/machine.ts';
import { addRoutes, anyone, route } from '#doors/routes.ts';

const machine: MachineFacts = {
  mac: '02:00:00:00:00:01',
  architecture: 'x86_64',
  firmware: 'uefi',
  address: '10.77.0.100',
  leasedTo: '02:00:00:00:00:01',
  bootId: 'boot_1',
};

/** A state whose database may grow no further, as on a full disk, and that has no page to spare. */
async function fullState(): Promise<SiteState> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-full-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const state = await openState(directory);
  onTestFinished(() => state.close());
  const entry = {
    entryId: 'be_1',
    siteId: 'site_1',
    nodeId: 'node_1',
    macs: [machine.mac],
    ramdisk: { ref: 'ramdisk@1', digests: { x86_64: '1'.repeat(64) } },
    issuedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2100-01-01T00:00:00.000Z',
  };
  state.entries.put(entry, 'jws');
  const pages = state.database.pragma('page_count', { simple: true });
  state.database.pragma(`max_page_count = ${pages}`);
  expect(() => fill(state)).toThrow(expect.objectContaining({ code: 'SQLITE_FULL' }));
  return state;
}

function fill({ events, tokens }: SiteState): never {
  for (let at = 0; ; at++) {
    events.add({ type: 'boot.other', text: 'x'.repeat(200), mac: `${at}` });
    const facts = { entryId: 'be', nodeId: 'node', address: '', bootId: '', expiresAt: 0 };
    for (let each = 0; each < 20; each++) tokens.mint({ ...facts, mac: `${at} ${each} ${'x'.repeat(50)}` });
  }
}

const turns = (state: SiteState) =>
  bootTurns({
    state,
    hosts: localHosts([]),
    consoles: [],
    seen: { see: () => {} },
    onEvent: () => {},
    log: silentLog(),
  });

test('on a full disk a stranger still boots its own', async () => {
  const state = await fullState();
  const stranger = { ...machine, mac: '02:00:00:00:00:99', uuid: 'x'.repeat(10_000) };
  expect(turns(state).decide(stranger)).toEqual({ kind: 'disk' });
  expect(state.events.knows(stranger.mac, 'machine.discovered')).toBe(false);
});

test('on a full disk another host that names a MAC is still told nothing', async () => {
  const { decide } = turns(await fullState());
  const { leasedTo: _, ...elsewhere } = machine;
  expect(decide({ ...elsewhere, address: '10.77.0.66' })).toEqual({ kind: 'disk' });
});

test('a ramdisk whose token cannot be kept is not booted, and the reason is said', async () => {
  const { decide } = turns(await fullState());
  const asked = () => decide({ ...machine, bootId: 'boot '.repeat(2000) });
  expect(asked).toThrow(
    expect.objectContaining({
      code: 'UNAVAILABLE',
      details: expect.objectContaining({ reason: 'no-space' }),
    }),
  );
});

test('a request that cannot be written down says that there is no room', async () => {
  const state = await fullState();
  const door = createSiteDoor({ log: silentLog() });
  addRoutes(door, [route({ method: 'GET', path: '/', admit: anyone, answer: () => fill(state) })]);
  const answer = await door.inject('/');
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ error: { code: 'UNAVAILABLE', details: { reason: 'no-space' } } });
});

test('health says that there is no room', async () => {
  // A file system that has none, anywhere.
  await expect(
    health({ siteId: 'site_1', stateDirectory: '/proc', kept: { current: {} as Identity } }),
  ).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    details: { reason: 'no-space', freeBytes: 0 },
  });
});
