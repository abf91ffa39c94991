import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Central, startCentral } from '#central/start.ts';
import { databaseOf } from '#central/store/database.ts';
import type { Operation } from '#contract/operations.ts';
import { apiClient, type Call, mintToken } from './centre.ts';
import { dialect } from './directory.ts';
import { deploy, follow, templatesFolder, workflow } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { failedWith, instead, type Stage, setStage } from './stage.ts';
import { testTimes } from './times.ts';

const times = { ...testTimes, claimMs: 500 };

let stage: Stage;
let second: Central;
let callSecond: Call;
let directory: string;

/** A second centre on the database of the first, as it is set up on another host: with the same keys. */
async function startSecond(): Promise<void> {
  directory = await mkdtemp(path.join(os.tmpdir(), 'railhead-second-'));
  await cp(path.join(stage.line.directory, 'keys'), path.join(directory, 'keys'), { recursive: true });
  const database = databaseOf(stage.line.directory);
  if (database.dialect !== 'postgres') throw new Error('only PostgreSQL is shared');
  const local = { host: '127.0.0.1', port: 0 };
  second = await startCentral({
    directory,
    database: database.url,
    api: local,
    agents: local,
    names: ['127.0.0.1'],
    userData: { templates: await templatesFolder() },
    times,
  });
  callSecond = apiClient(second.apiUrl, await mintToken(directory, ['compute:*@compute-fleet:*']));
}

async function setUp(...stageOf: Parameters<typeof setStage>): Promise<void> {
  const [before, profile = sampleProfile, options] = stageOf;
  stage = await setStage(before, profile, { times, ...options });
  await startSecond();
}

afterEach(async () => {
  if (dialect === 'sqlite') return;
  await second?.close();
  await stage?.close();
  await rm(directory, { recursive: true, force: true });
});

describe.runIf(dialect === 'postgres')('two centres on one database', () => {
  test('one runs what was asked of it while the site polls the other, and each operation is handed out once', async () => {
    await setUp();
    const workflowId = await deploy({ ...stage.line, call: callSecond }, 'node-1');
    await follow(stage.line.call, workflowId);
    expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
    const asked = stage.site.taken.map(({ operationId }) => operationId);
    expect(new Set(asked).size).toBe(asked.length);
  });

  test('a cancel that one is asked for reaches the workflow that the other runs', async () => {
    let running: Operation | undefined;
    await setUp(
      instead('deploy.image', (operation) => {
        running = operation;
      }),
    );
    const workflowId = await deploy(stage.line, 'node-1');
    await expect.poll(() => running, { timeout: 10_000 }).toBeDefined();
    await callSecond('workflows.cancel', { tenantId: 'root', workflowId });
    await expect.poll(() => stage.site.cancelled, { timeout: 10_000 }).toEqual([running?.operationId]);
    await stage.site.report(failedWith(running as Operation, 'INVALID_STATE', 'cancelled'));
    await follow(callSecond, workflowId);
    expect(await workflow(callSecond, workflowId)).toMatchObject({ state: 'cancelled' });
  });
});
