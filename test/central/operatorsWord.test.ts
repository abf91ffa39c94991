import { expect, test } from 'vitest';
import type { Operation } from '#contract/operations.ts';
import { type FakeSite, pollOnce } from './fakeSite.ts';
import { follow, workflow } from './line.ts';
import { metalStage, nodeRecord } from './metalStage.ts';
import type { Stage } from './stage.ts';

const node = { tenantId: 'root', nodeId: 'node-2' };
const please = 'please switch off node-2; then confirm it: railhead nodes confirm node-2';

interface Scene {
  stage: Stage;
  operation: Operation;
  workflowId: string;
}

/** A workflow whose step waits for an operator: the site has told what it asks. */
async function asked(): Promise<Scene> {
  const told = Promise.withResolvers<Operation>();
  const stage = await metalStage({
    'power.setPower': async (operation, site) => {
      await tell(site, 'operator.asked');
      told.resolve(operation);
      return true;
    },
  });
  const { data } = await stage.line.call<{ workflowId: string }>('metal.power', { ...node, action: 'off' });
  return { stage, operation: await told.promise, workflowId: data?.workflowId ?? '' };
}

let events = 0;
function tell(site: FakeSite, type: 'operator.asked' | 'operator.done'): Promise<void> {
  const event = { eventId: `ev_${++events}`, at: new Date().toISOString(), nodeId: 'node-2', type };
  return site.report({ events: [{ ...event, text: please }] });
}

const confirm = ({ stage }: Scene) => stage.line.call('nodes.confirm', node);
const stepOf = async ({ stage, workflowId }: Scene) =>
  (await workflow(stage.line.call, workflowId)).steps[0] as { state: string; asked?: string };
const confirmed = async ({ stage, operation }: Scene) =>
  (await pollOnce(stage.site, { observedGeneration: 0, taken: [operation.operationId] })).confirmed;

test('while a step waits for an operator it shows what is asked', async () => {
  const scene = await asked();
  expect(await stepOf(scene)).toMatchObject({ state: 'running', asked: please });
  await tell(scene.stage.site, 'operator.done');
  expect(await stepOf(scene)).not.toHaveProperty('asked');
});

test("an operator's word reaches the site, again and again until the operation has ended, and is on record once", async () => {
  const scene = await asked();
  const { stage, operation, workflowId } = scene;
  expect(await confirmed(scene)).toBeUndefined();
  const answer = { data: { nodeId: 'node-2', workflowId, confirmed: please } };
  expect(await confirm(scene)).toMatchObject(answer);
  expect(await confirm(scene)).toMatchObject(answer);
  expect(await confirmed(scene)).toEqual([operation.operationId]);
  expect(await confirmed(scene)).toEqual([operation.operationId]);
  await stage.site.succeed(operation, { power: 'off' });
  expect(await confirmed(scene)).toBeUndefined();
  const timeline = await follow(stage.line.call, workflowId);
  expect(timeline.filter(({ type }) => type === 'operator.confirmed')).toMatchObject([
    { cause: expect.stringMatching(/^token tok_/) },
  ]);
  const { data: audit } = await stage.line.call<{ items: object[] }>('audit.list', { limit: 200 });
  expect(audit?.items).toContainEqual(expect.objectContaining({ method: 'nodes.confirm', outcome: 'ok' }));
});

test('what was called off is confirmed no more, and its end ends the alarm, though the site was killed and told nothing', async () => {
  const scene = await asked();
  const { stage, operation, workflowId } = scene;
  const alarms = async () => (await nodeRecord(stage, 'node-2')).alarms;
  expect(await alarms()).toMatchObject([{ reason: 'operator-asked' }]);
  await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId });
  await follow(stage.line.call, workflowId);
  expect(await confirm(scene)).toMatchObject({ error: { details: { reason: 'nothing-asked' } } });
  await stage.site.succeed(operation, { power: 'off' });
  expect(await alarms()).toEqual([]);
});

test('nothing is confirmed of which nobody was asked', async () => {
  const stage = await metalStage();
  const nothing = { error: { code: 'NOT_FOUND', details: { reason: 'nothing-asked' } } };
  expect(await stage.line.call('nodes.confirm', node)).toMatchObject(nothing);
  const scene = await asked();
  await scene.stage.site.succeed(scene.operation, { power: 'off' });
  expect(await confirm(scene)).toMatchObject(nothing);
});
