import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { now, type Store } from '#central/store/store.ts';
import {
  type Claim,
  ClaimLost,
  claimWorkflow,
  releaseClaim,
  renewClaim,
  takeableWorkflows,
} from '#central/workflows/claims.ts';
import { changeStep, findWorkflow, finishWorkflow, stepsOf } from '#central/workflows/records.ts';
import { dialect } from './directory.ts';
import { openBooks } from './openBooks.ts';
import { testTimes } from './times.ts';

const times = { ...testTimes, claimMs: 500 };
const id = 'wf_1';

let store: Store;
let close: () => Promise<void>;

beforeEach(async () => {
  ({ store, close } = await openBooks());
  const made = { created_at: now() };
  const place = { tenant_id: 'root', site_id: 'site_1', node_id: 'node_1' };
  await store
    .insertInto('sites')
    .values({ site_id: 'site_1', name: 'lab', ...made })
    .execute();
  await store
    .insertInto('nodes')
    .values({ ...place, state: 'enrolled', ...made })
    .execute();
  const profile = { profile: '{"id":"p","version":1}', profile_tenant_id: 'root' };
  await store
    .insertInto('workflows')
    .values({ workflow_id: id, ...place, ...profile, state: 'running', created_by: 'test', ...made })
    .execute();
  const step = { step_id: 'step_1', position: 0, phase: 'main', step: '{"use":"power.setPower"}' } as const;
  await store
    .insertInto('workflow_steps')
    .values({ workflow_id: id, ...step, state: 'pending' })
    .execute();
});
afterEach(async () => {
  vi.useRealTimers();
  await close();
});

const centre = (instance: string) => ({ store, instance, times });
const claim = (instance: string) => claimWorkflow(centre(instance), id);

/** The claim that `heir` gets once the one that holds has run out. */
async function takenOver(heir: string): Promise<Claim> {
  let taken: Claim | undefined;
  await expect.poll(async () => (taken = await claim(heir)), { timeout: 5_000 }).toBeDefined();
  return taken as Claim;
}

test('of centres that claim at the same moment one gets it, until its claim has run out', async () => {
  const [mine, ...others] = (await Promise.all(['a', 'b', 'c', 'd'].map(claim))).filter(Boolean) as Claim[];
  expect(others).toEqual([]);
  expect(await claim('heir')).toBeUndefined();
  expect(await renewClaim(centre('a'), mine as Claim)).toBe(true);
  await takenOver('heir');
  expect(await renewClaim(centre('a'), mine as Claim)).toBe(false);
});

test('a centre that lost its claim writes nothing more, not even after it has claimed the workflow anew', async () => {
  const lost = (await claim('a')) as Claim;
  const workflow = await findWorkflow(store, id);
  const [step] = await stepsOf(store, id);
  if (workflow === undefined || step === undefined) throw new Error('there is no workflow');
  const running = { set: { state: 'running', attempt: 1 }, event: 'started' } as const;
  const heir = await takenOver('b');
  const late = () => changeStep(store, { ...workflow, ...lost }, step, running);
  await expect(late()).rejects.toThrow(ClaimLost);
  await changeStep(store, { ...workflow, ...heir }, step, {
    set: { state: 'succeeded' },
    event: 'succeeded',
  });
  await takenOver('a');
  await expect(late()).rejects.toThrow(ClaimLost);
  const again = await takenOver('b');
  await finishWorkflow(store, { ...workflow, ...again }, 'succeeded', undefined);
  await releaseClaim(store, again);
  const failed = finishWorkflow(store, { ...workflow, ...lost }, 'failed', undefined);
  await expect(failed).rejects.toThrow(ClaimLost);
  expect(await findWorkflow(store, id)).toMatchObject({ state: 'succeeded' });
  expect(await stepsOf(store, id)).toMatchObject([{ state: 'succeeded', attempt: 0 }]);
  const events = await store.selectFrom('events').select('type').orderBy('seq').execute();
  expect(events.map(({ type }) => type)).toEqual(['step.succeeded', 'workflow.succeeded']);
});

test('what nobody holds may be taken, and what another centre holds only when its claim has run out', async () => {
  const takeable = (instance: string) => takeableWorkflows(centre(instance));
  expect(await takeable('b')).toEqual([id]);
  await claim('a');
  expect([await takeable('a'), await takeable('b')]).toEqual([[id], []]);
  await expect.poll(() => takeable('b')).toEqual([id]);
});

test.runIf(dialect === 'postgres')(
  'a centre whose clock is ahead takes nothing that another holds',
  async () => {
    expect(await claim('a')).toBeDefined();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    expect(await claim('ahead')).toBeUndefined();
    expect(await takeableWorkflows(centre('ahead'))).toEqual([]);
  },
);
