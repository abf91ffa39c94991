import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { auditRecords, beginAudit } from '#central/audit.ts';
import { checkKeep, type KeepDays } from '#central/retention/keep.ts';
import { removeOld } from '#central/retention/round.ts';
import type { Store } from '#central/store/store.ts';
import { takeTurn } from '#central/store/turns.ts';
import { newId } from '#contract/ids.ts';
import { dialect } from '../directory.ts';
import { openBooks } from '../openBooks.ts';
import { addEvent, addJoin, addSite, addWorkflow, ago, now } from './oldBooks.ts';

let store: Store;
let close: () => Promise<void>;

beforeEach(async () => {
  ({ store, close } = await openBooks());
  await addSite(store);
});
afterEach(() => close());

const round = (keep: Partial<KeepDays> = {}, stop = new AbortController().signal) =>
  removeOld(store, checkKeep(keep), now, stop);

async function left<Table extends 'events' | 'workflows' | 'operations' | 'node_joins' | 'alarms'>(
  table: Table,
  column: string,
): Promise<string[]> {
  const { rows } = await sql<{
    id: string;
  }>`SELECT ${sql.ref(column)} AS id FROM ${sql.table(table)}`.execute(store);
  return rows.map(({ id }) => id).toSorted();
}

test('what happened to a machine goes after its time, by when the centre was told of it', async () => {
  await addEvent(store, 'old', 91);
  await addEvent(store, 'young', 89);
  // A site whose clock stands in the past, or that was away for a season, tells of it today.
  await addEvent(store, 'told late', 400, { received_at: ago(1) });
  await addEvent(store, 'of no machine', 91, { node_id: null });
  expect(await round()).toEqual({ machineEvents: 2 });
  expect(await left('events', 'event_id')).toEqual(['told late', 'young']);
  expect(await round()).toEqual({});
});

test('what a console printed has a time of its own, shorter or longer', async () => {
  for (const days of [10, 40, 100])
    await addEvent(store, `console ${days}`, days, { type: 'console.output' });
  await addEvent(store, 'console started', 40, { type: 'console.started' });
  expect(await round({ console: 365 })).toEqual({});
  expect(await round()).toEqual({ consoleOutput: 2 });
  expect(await left('events', 'event_id')).toEqual(['console 10', 'console started']);
});

test('the events of a workflow go together, from its end on, unless it runs or is the last of its machine', async () => {
  await addWorkflow(store, { id: 'wf_1', days: 300 });
  await addWorkflow(store, { id: 'wf_2', days: 80 });
  await addEvent(store, 'wf_2 began long ago', 100, { workflow_id: 'wf_2' });
  await addWorkflow(store, { id: 'wf_3', days: 200, state: 'running' });
  await addWorkflow(store, { id: 'wf_4', node: 'node-2', days: 200 });
  expect(await round()).toEqual({ workflowEvents: 2 });
  expect(await left('events', 'event_id')).toEqual([
    'wf_2 began long ago',
    ...['wf_2/1', 'wf_2/2', 'wf_3/1', 'wf_3/2', 'wf_4/1', 'wf_4/2'],
  ]);
  expect(await left('workflows', 'workflow_id')).toEqual(['wf_1', 'wf_2', 'wf_3', 'wf_4']);
});

test('the workflow that changed a machine’s state last, and the one that gave it its image, outlast later ones', async () => {
  await addWorkflow(store, { id: 'wf_1', days: 900 });
  await addWorkflow(store, { id: 'wf_2', days: 800, settles: '{}' });
  await addWorkflow(store, { id: 'wf_3', days: 700, settles: '{}' });
  await addWorkflow(store, { id: 'wf_4', days: 600 });
  await addWorkflow(store, { id: 'wf_5', days: 500 });
  const image = { sha256: 'a', ref: 'os@1', image_id: 'img_1', state: 'deployed' as const, at: ago(800) };
  await store
    .insertInto('node_images')
    .values({ node_id: 'node-1', workflow_id: 'wf_2', ...image })
    .execute();
  expect(await round()).toEqual({ workflowEvents: 4, workflows: 2, joins: 2 });
  expect(await left('workflows', 'workflow_id')).toEqual(['wf_2', 'wf_3', 'wf_5']);
  expect(await left('operations', 'operation_id')).toEqual(['op-wf_2', 'op-wf_3', 'op-wf_5']);
  expect(await left('node_joins', 'join_id')).toEqual(['j-wf_2', 'j-wf_3', 'j-wf_5']);
  expect(await round()).toEqual({});
});

test('that a machine’s last ramdisk has ended is known without the workflow that ended it', async () => {
  for (const node of ['node-1', 'node-2']) {
    await addWorkflow(store, { id: `wf_1 ${node}`, node, days: 900 });
    await addJoin(store, `ramdisk ${node}`, node, 890);
    await addWorkflow(store, { id: `wf_2 ${node}`, node, days: 880 });
    await store.deleteFrom('operations').where('workflow_id', '=', `wf_2 ${node}`).execute();
    await store.deleteFrom('node_joins').where('join_id', '=', `j-wf_2 ${node}`).execute();
    await store
      .updateTable('operations')
      .set({
        action: 'boot.cleanUp',
        outcome: node === 'node-1' ? 'succeeded' : 'failed',
        finished_at: ago(889),
      })
      .where('workflow_id', '=', `wf_1 ${node}`)
      .execute();
  }
  expect(await round()).toMatchObject({ workflows: 2, joins: 2 });
  const joins = await store
    .selectFrom('node_joins')
    .select(['join_id', 'lost_at'])
    .orderBy('join_id')
    .execute();
  expect(joins).toEqual([
    { join_id: 'ramdisk node-1', lost_at: ago(889) },
    { join_id: 'ramdisk node-2', lost_at: null },
  ]);
});

test('a workflow without its events is listed until its own time, and goes with what was told of it since', async () => {
  await addWorkflow(store, { id: 'wf_1', days: 100 });
  await addWorkflow(store, { id: 'wf_2', days: 1 });
  expect(await round()).toEqual({ workflowEvents: 2 });
  await addEvent(store, 'late', 100, { workflow_id: 'wf_1' });
  expect(await round({ workflows: 99 })).toEqual({ workflows: 1, joins: 1 });
  expect(await left('events', 'event_id')).toEqual(['wf_2/1', 'wf_2/2']);
});

test('of a machine’s joins the last one of each kind stays', async () => {
  for (const days of [900, 800, 700]) await addJoin(store, `ramdisk ${days}`, 'node-1', days);
  await addJoin(store, 'other', 'node-2', 900);
  await store
    .insertInto('node_joins')
    .values({ join_id: 'os', node_id: 'node-1', role: 'node', at: ago(900), received_at: ago(900) })
    .execute();
  expect(await round()).toEqual({ joins: 2 });
  expect(await left('node_joins', 'join_id')).toEqual(['os', 'other', 'ramdisk 700']);
});

test('the record of changes goes only when that is asked for', async () => {
  const call = { actor: 'tok_1', method: 'm', action: 'a', scope: 's', subject: {} };
  const recent = await beginAudit(store, call);
  for (const days of [100, 500]) {
    const id = await beginAudit(store, call);
    const old = newId('ev', Date.parse(ago(days)));
    await store
      .updateTable('audit')
      .set({ audit_id: old, at: ago(days) })
      .where('audit_id', '=', id)
      .execute();
  }
  const since = async () => (await auditRecords(store, { limit: 9 })).map(({ at }) => at);
  expect(await round()).toEqual({});
  expect(await since()).toHaveLength(3);
  expect(await round({ audit: 400 })).toEqual({ audit: 1 });
  expect((await since()).slice(0, 1)).toEqual([ago(100)]);
  expect(await round({ audit: 1 })).toEqual({ audit: 1 });
  expect((await auditRecords(store, { limit: 9 })).map(({ audit_id }) => audit_id)).toEqual([recent]);
});

test('alarms go once they are acknowledged, certificates and join tokens once they are good for nothing', async () => {
  const alarm = { at: ago(900), site_id: 'site_1', reason: 'contested' as const, text: 't' };
  await store
    .insertInto('alarms')
    .values([
      { alarm_id: 'open', ...alarm },
      { alarm_id: 'seen long ago', ...alarm, acknowledged_at: ago(91) },
      { alarm_id: 'seen', ...alarm, acknowledged_at: ago(1) },
    ])
    .execute();
  const certificate = (serial: string, days: number, identity = 'urn:1') =>
    ({ serial, identity, issued_at: ago(900), expires_at: ago(days) }) as const;
  await store
    .insertInto('certificates')
    .values([
      certificate('1', 400),
      certificate('2', 300),
      certificate('3', 200),
      certificate('4', 300, 'urn:2'),
    ])
    .execute();
  const token = (id: string, days: number) =>
    ({
      token_id: id,
      hash: id,
      role: 'node',
      node_id: 'n',
      created_at: ago(999),
      expires_at: ago(days),
    }) as const;
  await store
    .insertInto('join_tokens')
    .values([token('old', 181), token('young', 179)])
    .execute();
  expect(await round()).toEqual({ alarms: 1, joinTokens: 1, certificates: 2 });
  expect(await left('alarms', 'alarm_id')).toEqual(['open', 'seen']);
  const serials = await store.selectFrom('certificates').select('serial').orderBy('serial').execute();
  expect(serials.map(({ serial }) => serial)).toEqual(['3', '4']);
});

test('a round that is stopped ends after the batch that it is in', async () => {
  for (let count = 0; count < 3; count++) await addEvent(store, `${count}`, 100);
  const stop = AbortSignal.abort();
  expect(await round({}, stop)).toEqual({});
  expect(await left('events', 'event_id')).toHaveLength(3);
});

test.runIf(dialect === 'postgres')('a round ends at once while another centre removes', async () => {
  await addEvent(store, 'old', 100);
  await store.transaction().execute(async (other) => {
    await takeTurn(other, 'retention');
    expect(await round()).toEqual({});
  });
  expect(await round()).toEqual({ machineEvents: 1 });
});
