import { afterEach, expect, test } from 'vitest';
import type { Operation } from '#contract/operations.ts';
import { deploy, follow, workflow } from './line.ts';
import { sampleProfile } from './sampleProfile.ts';
import { failedWith, instead, type Stage, setStage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

test('cancel reaches the running operation, skips the rest and still cleans up', async () => {
  let running: Operation | undefined;
  stage = await setStage(
    instead('deploy.image', (operation) => {
      running = operation;
    }),
  );
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(
    stage.line.call,
    workflowId,
    ({ type, text }) => type === 'step.started' && text === 'deploy.deploy',
  );
  await expect.poll(() => running).toBeDefined();
  expect(await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId })).toMatchObject({
    status: 200,
  });
  await expect.poll(() => stage.site.cancelled).toEqual([running?.operationId]);
  await stage.site.report(failedWith(running as Operation, 'INVALID_STATE', 'cancelled'));
  await follow(stage.line.call, workflowId);
  const after = await workflow(stage.line.call, workflowId);
  expect(after.state).toBe('cancelled');
  expect(after.steps.slice(5).map(({ state }) => state)).toEqual([
    'cancelled',
    'skipped',
    'skipped',
    'succeeded',
  ]);
  expect(await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId })).toMatchObject({
    status: 409,
    error: { code: 'INVALID_STATE', details: { reason: 'cancelled' } },
  });
});

test('an operation that the site never ends runs into its timeout', async () => {
  const steps = [{ use: 'power.setPower', with: { action: 'on' }, timeout: '200ms' }];
  stage = await setStage(
    instead('power.setPower', () => {}),
    { ...sampleProfile, steps },
  );
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  expect(await workflow(stage.line.call, workflowId)).toMatchObject({
    state: 'failed',
    error: { code: 'UNAVAILABLE', details: { reason: 'timeout', timeoutMs: 200 } },
  });
});

test('a step that may continue on failure does not end the workflow', async () => {
  const steps = [
    { use: 'management.setBootDevice', with: { device: 'pxe' }, onFailure: 'continue' },
    { use: 'power.setPower', with: { action: 'on' } },
  ];
  stage = await setStage(
    instead('management.setBootDevice', (operation, at) =>
      at.report(failedWith(operation, 'DRIVER_ERROR', 'no')),
    ),
    { ...sampleProfile, steps },
  );
  const workflowId = await deploy(stage.line, 'node-1');
  await follow(stage.line.call, workflowId);
  const after = await workflow(stage.line.call, workflowId);
  expect(after.state).toBe('succeeded');
  expect(after.steps.map(({ state }) => state)).toEqual(['failed', 'succeeded', 'succeeded']);
});
