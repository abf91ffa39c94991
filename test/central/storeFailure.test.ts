import { afterEach, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { deploy, follow, workflow } from './line.ts';
import { refuseWrites } from './refuseWrites.ts';
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
  await expect.poll(() => failures, { timeout: 10_000 }).toBeGreaterThan(1);
  return workflowId;
}

/** The third step of the sample profile, and the ways in which the database can fail it. */
const stepUpdate = 'UPDATE ON workflow_steps';
const refusals = {
  'the start of a step': { write: stepUpdate, when: "OLD.position = 2 AND NEW.state = 'running'" },
  'the success of a step': { write: stepUpdate, when: "OLD.position = 2 AND NEW.state = 'succeeded'" },
  'any end of a step': { write: stepUpdate, when: "OLD.position = 2 AND OLD.state = 'running'" },
  'an operation of a step': {
    write: 'INSERT ON operations',
    when: "NEW.action = 'management.setBootDevice'",
  },
  'the end of the workflow': { write: 'UPDATE ON workflows', when: "NEW.state <> 'running'" },
};

test.each(Object.entries(refusals))(
  'a workflow goes on once the database takes %s',
  async (_what, refusal) => {
    await setWatchedStage();
    const allow = await refuseWrites(stage.line.directory, refusal);
    const workflowId = await deployInVain();
    expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'running' });
    await allow();
    await follow(stage.line.call, workflowId);
    const after = await workflow(stage.line.call, workflowId);
    expect(after.state).toBe('succeeded');
    expect(after.steps.every(({ attempt }) => attempt === 1)).toBe(true);
    expect(stage.site.taken.filter(({ action }) => action === 'management.setBootDevice')).toHaveLength(2);
  },
);

test('a cancel reaches a workflow that the database stopped', async () => {
  await setWatchedStage();
  const allow = await refuseWrites(stage.line.directory, refusals['an operation of a step']);
  const workflowId = await deployInVain();
  const cancelled = await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId });
  expect(cancelled).toMatchObject({ status: 200 });
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'cancelled' });
  await allow();
  expect(await deploy(stage.line, 'node-1')).toMatch(/^wf_/);
});
