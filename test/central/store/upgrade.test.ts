import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '#base/sqlite.ts';
import { startCentral } from '#central/start.ts';
import { migrations } from '#central/store/migrations.ts';
import { apiClient, mintToken } from '../centre.ts';

const at = '2026-01-01T00:00:00.000Z';

/** The books of a centre that ran a deploy before its machines had a life of more than four states. */
const books = `
INSERT INTO sites (site_id, name, created_at) VALUES ('site_1', 'lab', '${at}');
INSERT INTO nodes (node_id, tenant_id, site_id, state, created_at)
  VALUES ('busy', 'root', 'site_1', 'deploying', '${at}'), ('broken', 'root', 'site_1', 'failed', '${at}');
INSERT INTO workflows (workflow_id, tenant_id, node_id, site_id, profile, profile_tenant_id, state, created_by, created_at)
  VALUES ('wf_1', 'root', 'busy', 'site_1', '{}', 'root', 'running', 'token', '${at}');
INSERT INTO workflow_steps (workflow_id, position, step_id, phase, step, state)
  VALUES ('wf_1', 0, 'step_1', 'main', '{}', 'running');
INSERT INTO operations (operation_id, site_id, node_id, step_id, workflow_id, attempt, target, action, sealed, created_at, expires_at)
  VALUES ('op_1', 'site_1', 'busy', 'step_1', 'wf_1', 1, 'site', 'power.getPower', X'00', '${at}', '${at}');
`;

test('a deploy that ran when the centre was upgraded keeps its operation, and still settles its node', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-upgrade-'));
  const file = path.join(directory, 'central.db');
  const before = migrations.findIndex((sql) => sql.includes('operations_before'));
  const old = openSqlite(file, migrations.slice(0, before));
  old.exec(books);
  old.close();
  const upgraded = openSqlite(file, migrations);
  const one = (sql: string) => upgraded.prepare(sql).get() as Record<string, unknown>;
  expect(one('SELECT * FROM operations')).toMatchObject({
    operation_id: 'op_1',
    attempt: 1,
    part: '',
    sealed: Buffer.of(0),
  });
  expect(JSON.parse(one('SELECT settles FROM workflows').settles as string)).toEqual({
    method: 'deploy',
    during: 'deploying',
    success: 'active',
  });
  expect(one("SELECT state, failed_from FROM nodes WHERE node_id = 'broken'")).toEqual({
    state: 'failed',
    failed_from: 'deploying',
  });
  expect(one("SELECT state FROM nodes WHERE node_id = 'busy'")).toEqual({ state: 'deploying' });
  upgraded.close();
  await rm(directory, { recursive: true });
});

test('events from before the centre noted when it was told of them count from their own time', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-upgrade-'));
  const file = path.join(directory, 'central.db');
  const before = migrations.findIndex((sql) => sql.includes('received_at = at'));
  const old = openSqlite(file, migrations.slice(0, before));
  old.exec(`INSERT INTO events (event_id, at, type, cause, text) VALUES ('ev_1', '${at}', 't', 'c', 'x')`);
  old.close();
  const upgraded = openSqlite(file, migrations);
  expect(upgraded.prepare('SELECT received_at FROM events').get()).toEqual({ received_at: at });
  upgraded.close();
  await rm(directory, { recursive: true });
});

/** What the first version kept, one of each kind that a list answers. */
const firstBooks = `
INSERT INTO sites (site_id, name, created_at) VALUES ('site_1', 'lab', '${at}');
INSERT INTO pools (pool_id, tenant_id, site_id, class, policy, created_at)
  VALUES ('pool_1', 'acme', 'site_1', 'metal-host', '{"prewarmImages":["a@1"],"ramdisk":{}}', '${at}');
INSERT INTO nodes (node_id, tenant_id, site_id, pool_id, state, created_at)
  VALUES ('node-1', 'acme', 'site_1', 'pool_1', 'enrolled', '${at}');
INSERT INTO image_signers (tenant_id, signer_id, public_key, created_at) VALUES ('signs-only', 'builds', 'key', '${at}');
`;

test('what the first version kept is answered within the schemas of this one', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-upgrade-'));
  const old = openSqlite(path.join(directory, 'central.db'), migrations.slice(0, 1));
  old.exec(firstBooks);
  old.close();
  const local = { host: '127.0.0.1', port: 0 };
  const central = await startCentral({ directory, api: local, agents: local, names: ['127.0.0.1'] });
  const call = apiClient(central.apiUrl, await mintToken(directory, ['compute:*@compute-fleet:*']));
  const ids = async (method: string, input: object, id: string) => {
    const { data } = await call<{ items: Record<string, unknown>[] }>(method, input);
    return data.items.map((item) => item[id]);
  };
  const ofAcme = { tenantId: 'acme' };
  expect(await ids('tenants.list', {}, 'tenantId')).toEqual(['acme', 'root', 'signs-only']);
  expect(await ids('sites.list', {}, 'siteId')).toEqual(['site_1']);
  expect(await ids('pools.list', ofAcme, 'poolId')).toEqual(['pool_1']);
  expect(await ids('nodes.list', ofAcme, 'nodeId')).toEqual(['node-1']);
  const { data } = await call<{ items: object[] }>('pools.list', ofAcme);
  expect(data.items).toMatchObject([{ policy: { prewarmImages: ['a@1'], trust: 'network', agent: 'bcd' } }]);
  await central.close();
  await rm(directory, { recursive: true });
});
