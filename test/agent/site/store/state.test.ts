import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startPruning } from '#agent/site/store/pruning.ts';
import { migrations } from '#agent/site/store/schema.ts';
import { openState, type SiteState } from '#agent/site/store/state.ts';
import { silentLog } from '#base/log.ts';
import { openSqlite } from '#base/sqlite.ts';
import type { BootEntry } from '#contract/bootEntry.ts';
import type { Operation, OperationResult } from '#contract/operations.ts';

const longAgo = '2020-01-01T00:00:00.000Z';

async function newState(now?: () => number): Promise<SiteState> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-state-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const state = await openState(directory, now);
  onTestFinished(() => state.close());
  return state;
}

const operation = (operationId: string, more: Partial<Operation> = {}): Operation => ({
  operationId,
  nodeId: 'node_1',
  target: 'site',
  action: 'power.getPower',
  input: {},
  expiresAt: '2100-01-01T00:00:00.000Z',
  ...more,
});

const result = (operationId: string, finishedAt = new Date().toISOString()): OperationResult => ({
  operationId,
  outcome: 'succeeded',
  finishedAt,
});

const entry = (
  entryId: string,
  nodeId: string,
  macs: string[],
  expiresAt = '2100-01-01T00:00:00.000Z',
): BootEntry => ({
  entryId,
  siteId: 'site_1',
  nodeId,
  macs,
  ramdisk: { ref: 'ramdisk@1', digests: {} },
  issuedAt: longAgo,
  expiresAt,
});

test('an operation is taken once, begins once and ends once', async () => {
  const { journal } = await newState();
  journal.receive([operation('op_1'), operation('op_1')]);
  expect(journal.open('site')).toHaveLength(1);
  expect([journal.start('op_1', 1), journal.start('op_1', 2)]).toEqual([true, false]);
  expect(journal.find('op_1')?.startedAt).toBe(1);
  expect([journal.finish(result('op_1')), journal.finish({ ...result('op_1'), outcome: 'failed' })]).toEqual([
    true,
    false,
  ]);
  expect(journal.results(10)).toMatchObject([{ outcome: 'succeeded' }]);
  expect(journal.find('op_1')).toBeUndefined();
});

test('a result is told until it is taken, and again when the operation is handed out again', async () => {
  const { journal } = await newState();
  journal.receive([operation('op_1')]);
  journal.finish(result('op_1'));
  expect(journal.untold()).toBe(1);
  journal.taken(journal.results(10));
  expect(journal.results(10)).toEqual([]);
  journal.receive([operation('op_1')]);
  expect(journal.results(10)).toHaveLength(1);
  expect(journal.open('site')).toEqual([]);
});

test('results are told so many at a time as are not too long together, one at least', async () => {
  const { journal } = await newState();
  journal.receive([operation('op_1'), operation('op_2'), operation('op_3')]);
  for (const id of ['op_1', 'op_2', 'op_3'])
    journal.finish({ ...result(id), result: { text: 'x'.repeat(1000) } });
  const told = (mostBytes: number) => journal.results(10, mostBytes).map(({ operationId }) => operationId);
  expect(told(10)).toEqual(['op_1']);
  expect(told(2500)).toEqual(['op_1', 'op_2']);
  expect(told(1e6)).toEqual(['op_1', 'op_2', 'op_3']);
});

test.each(['succeeded', 'failed'] as const)(
  'of an operation that %s nothing is left that it was given',
  async (outcome) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'railhead-state-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const { journal, database, close } = await openState(directory);
    const secret = 'join-token: secret '.repeat(500);
    journal.receive([operation('op_1', { input: { document: secret }, jws: 'signed-secret' })]);
    expect(journal.find('op_1')?.operation.input).toEqual({ document: secret });
    journal.finish({ ...result('op_1'), outcome });
    expect(database.prepare('SELECT document FROM operations').get()).toEqual({
      document: JSON.stringify({
        operationId: 'op_1',
        nodeId: 'node_1',
        target: 'site',
        action: 'power.getPower',
        expiresAt: '2100-01-01T00:00:00.000Z',
      }),
    });
    close();
    expect((await readFile(path.join(directory, 'state.db'))).toString('latin1')).not.toMatch(
      /join-token|signed-secret/,
    );
  },
);

test('a cancellation of what has ended is no cancellation', async () => {
  const { journal } = await newState();
  journal.receive([operation('op_1'), operation('op_2')]);
  journal.finish(result('op_1'));
  expect(journal.cancel(['op_1', 'op_2', 'op_3'])).toEqual(['op_2']);
});

test("a node's new entry takes the place of its old one, and a MAC belongs to the newest entry", async () => {
  const { entries } = await newState();
  entries.put(entry('be_1', 'node_1', ['02:00:00:00:00:01', '02:00:00:00:00:02']), 'jws');
  entries.put(entry('be_2', 'node_1', ['02:00:00:00:00:01']), 'jws');
  expect(entries.byMac('02:00:00:00:00:02', 0)).toBeUndefined();
  entries.put(entry('be_3', 'node_2', ['02:00:00:00:00:01']), 'jws');
  expect(entries.byNode('node_1')).toBeUndefined();
  expect(entries.byMac('02:00:00:00:00:01', 0)?.entryId).toBe('be_3');
  expect([entries.remove('node_2'), entries.remove('node_2')]).toEqual([true, false]);
});

test('an entry that has expired is none', async () => {
  const { entries } = await newState();
  entries.put(entry('be_1', 'node_1', ['02:00:00:00:00:01'], '2026-01-01T00:00:00.000Z'), 'jws');
  const end = Date.parse('2026-01-01T00:00:00.000Z');
  expect(entries.byMac('02:00:00:00:00:01', end - 1)?.entryId).toBe('be_1');
  expect(entries.byMac('02:00:00:00:00:01', end)).toBeUndefined();
});

const loader = { espGuid: '0b1c2d3e-4f50-8123-9abc-def012345678', path: '\\EFI\\BOOT\\BOOTX64.EFI' };

test("a node's loader is that of its last deploy, also after a restart", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-state-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const before = await openState(directory);
  before.loaders.put('node_1', { ...loader, path: '\\EFI\\debian\\shimx64.efi' });
  before.loaders.put('node_1', loader);
  before.loaders.put('node_2', loader);
  before.loaders.put('node_2', undefined);
  before.close();
  const { loaders, close } = await openState(directory);
  onTestFinished(close);
  expect(loaders.byNode('node_1')).toEqual(loader);
  expect(loaders.byNode('node_2')).toBeUndefined();
});

test('the database of the first version is taken over as it is', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-state-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const first = openSqlite(path.join(directory, 'state.db'), migrations.slice(0, 1));
  first.prepare("INSERT INTO bmc_pins VALUES ('10.0.0.1', 'ab')").run();
  const ended = `INSERT INTO operations (operation_id, node_id, target, document, state, expires_at, result)
    VALUES ('op_1', 'node_1', 'ramdisk', '{"operationId":"op_1","input":{},"jws":"x"}', 'finished', 0, '{}')`;
  first.prepare(ended).run();
  first.close();
  const { bmcPins, loaders, database, close } = await openState(directory);
  onTestFinished(close);
  loaders.put('node_1', loader);
  expect([bmcPins.find('10.0.0.1'), loaders.byNode('node_1')]).toEqual(['ab', loader]);
  expect(database.prepare('SELECT document FROM operations').get()).toEqual({
    document: '{"operationId":"op_1"}',
  });
});

test('tokens and sessions are nowhere in the file as they are told', async () => {
  const { tokens, sessions, database } = await newState();
  const mac = '02:00:00:00:00:01';
  const facts = {
    mac,
    entryId: 'be_1',
    nodeId: 'node_1',
    address: '10.0.0.1',
    bootId: 'boot_1',
    expiresAt: 1,
  };
  const token = tokens.mint(facts);
  const signingKey = { kty: 'OKP', crv: 'Ed25519', x: '' } as const;
  const session = { nodeId: 'node_1', mac, bootId: 'boot_1', signingKey, claimedBy: 'keys', joinedAt: 1 };
  const bearer = sessions.open(session);
  expect(tokens.find(token)).toMatchObject(facts);
  expect(sessions.find(bearer)).toEqual(session);
  const rows = JSON.stringify([
    database.prepare('SELECT * FROM boot_tokens').all(),
    database.prepare('SELECT * FROM sessions').all(),
  ]);
  expect(rows).not.toContain(token);
  expect(rows).not.toContain(bearer);
});

test('what was told and is old is forgotten; what was not told is kept', async () => {
  const state = await newState(() => Date.parse(longAgo));
  for (const id of ['op_told', 'op_untold']) {
    state.journal.receive([operation(id, { expiresAt: longAgo })]);
    state.journal.finish(result(id, longAgo));
  }
  state.journal.taken([result('op_told')]);
  state.events.add({ type: 'boot.dhcp', text: 'told', mac: 'a', nodeId: 'node' });
  state.events.taken(state.events.untold(10));
  state.events.add({ type: 'boot.dhcp', text: 'untold', mac: 'a', nodeId: 'node' });
  state.entries.put(entry('be_1', 'node_1', ['02:00:00:00:00:01'], longAgo), 'jws');
  startPruning(state, silentLog()).close();
  expect(state.journal.results(10).map((each) => each.operationId)).toEqual(['op_untold']);
  expect(state.events.timeline('a', 10)).toMatchObject([{ text: 'untold' }]);
  expect(state.entries.all()).toEqual([]);
});
