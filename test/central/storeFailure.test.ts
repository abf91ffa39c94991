import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { deploy, follow, workflow } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { type Stage, setStage } from './stage.ts';

let stage: Stage;
let failures: number;
afterEach(() => stage.close());

async function setWatchedStage(): Promise<void> {
  failures = 0;
  const log = { ...silentLog(), error: () => void failures++ };
  stage = await setStage(undefined, sampleProfile, { log });
}

/** Deploys and returns once what the database refuses was tried again in vain. */
async function deployInVain(): Promise<string> {
  const workflowId = await deploy(stage.line, 'node-1');
  await expect.poll(() => failures).toBeGreaterThan(1);
  return workflowId;
}

/** Makes the database refuse what `condition` says, as a full disk does, until the returned function is called. */
function refuseWrites(condition: string): () => void {
  const database = new Database(path.join(stage.line.directory, 'central.db'));
  database.exec(
    `CREATE TRIGGER refusal BEFORE ${condition} BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`,
  );
  return () => {
    database.exec('DROP TRIGGER refusal');
    database.close();
  };
}

/** The third step of the sample profile, and the ways in which the database can fail it. */
const bootDevice = 'UPDATE ON workflow_steps WHEN OLD.position = 2';
const refusals = {
  'the start of a step': `${bootDevice} AND NEW.state = 'running'`,
  'the success of a step': `${bootDevice} AND NEW.state = 'succeeded'`,
  'any end of a step': `${bootDevice} AND OLD.state = 'running'`,
  'an operation of a step': "INSERT ON operations WHEN NEW.action = 'management.setBootDevice'",
  'the end of the workflow': "UPDATE ON workflows WHEN NEW.state <> 'running'",
};

test.each(Object.entries(refusals))(
  'a workflow goes on once the database takes %s',
  async (_what, condition) => {
    await setWatchedStage();
    const allow = refuseWrites(condition);
    const workflowId = await deployInVain();
    expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'running' });
    allow();
    await follow(stage.line.call, workflowId);
    const after = await workflow(stage.line.call, workflowId);
    expect(after.state).toBe('succeeded');
    expect(after.steps.every(({ attempt }) => attempt === 1)).toBe(true);
    expect(stage.site.taken.filter(({ action }) => action === 'management.setBootDevice')).toHaveLength(2);
  },
);

test('a cancel reaches a workflow that the database stopped', async () => {
  await setWatchedStage();
  const allow = refuseWrites(refusals['an operation of a step']);
  const workflowId = await deployInVain();
  const cancelled = await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId });
  expect(cancelled).toMatchObject({ status: 200 });
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'cancelled' });
  allow();
  expect(await deploy(stage.line, 'node-1')).toMatch(/^wf_/);
});
