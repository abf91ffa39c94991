import { afterEach, describe, expect, test } from 'vitest';
import { onHost } from '#central/host.ts';
import { listWithdrawals, undoWithdrawal, withdrawDigest } from '#central/images/withdrawal.ts';
import type { Store } from '#central/store/store.ts';
import type { AgentPollAnswer } from '#contract/agentWire.ts';
import type { Operation } from '#contract/operations.ts';
import { mustRegister, osImage } from '../centre.ts';
import { type FakeSite, pollOnce } from '../fakeSite.ts';
import { deploy, enroll, follow, osDigest, ramdiskDigest, workflow } from '../line.ts';
import { sampleProfile } from '../sampleProfile.ts';
import { failedWith, instead, type Stage, setStage } from '../stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const host = <Value>(work: (store: Store) => Promise<Value>) =>
  onHost(stage.line.directory, ({ store }) => work(store));
const withdraw = (digest: string, why = 'CVE-2026-1') => host((store) => withdrawDigest(store, digest, why));
const node = async (nodeId: string) =>
  (await stage.line.call('nodes.get', { tenantId: 'root', nodeId })).data;

async function deployed(): Promise<void> {
  await follow(stage.line.call, await deploy(stage.line, 'node-1'));
  expect(await node('node-1')).toMatchObject({ state: 'active' });
}

const withdrawnError = { code: 'INVALID_STATE', details: { reason: 'withdrawn', why: 'CVE-2026-1' } };
const newestSpec = (generation = 0): Promise<AgentPollAnswer> =>
  pollOnce(stage.site, { observedGeneration: generation, taken: [], waitSeconds: 10 });

describe('a withdrawn digest', () => {
  test('does not deploy', async () => {
    stage = await setStage();
    await withdraw(osDigest.toUpperCase());
    const workflowId = await deploy(stage.line, 'node-1');
    await follow(stage.line.call, workflowId);
    expect(await workflow(stage.line.call, workflowId)).toMatchObject({
      state: 'failed',
      error: withdrawnError,
    });
    expect(await node('node-1')).toMatchObject({ state: 'failed', images: [] });
    expect(stage.site.taken.map(({ action }) => action)).not.toContain('deploy.image');
  });

  test('does not boot: its ramdisk is prepared at no site', async () => {
    stage = await setStage();
    await withdraw(ramdiskDigest);
    const workflowId = await deploy(stage.line, 'node-1');
    await follow(stage.line.call, workflowId);
    expect(await workflow(stage.line.call, workflowId)).toMatchObject({
      state: 'failed',
      error: withdrawnError,
    });
    expect(stage.site.taken.map(({ action }) => action)).not.toContain('boot.prepareRamdisk');
  });

  test('is told to every site at once, leaves their desired caches, and the boot entries that led to it', async () => {
    const asked = Promise.withResolvers<void>();
    stage = await setStage(instead('management.setBootDevice', () => asked.resolve()));
    const workflowId = await deploy(stage.line, 'node-1');
    await asked.promise;
    const before = (await newestSpec()).spec;
    expect(before?.site).toMatchObject({ withdrawn: [], bootEntries: [expect.any(String)] });
    const waiting = newestSpec(before?.generation);
    await withdraw(ramdiskDigest);
    const { spec } = await waiting;
    expect(spec?.site).toMatchObject({ withdrawn: [ramdiskDigest], bootEntries: [] });
    expect(spec?.site?.cacheImages.map(({ ref }) => ref)).toEqual(['demo-os@1']);
    await stage.line.call('workflows.cancel', { tenantId: 'root', workflowId });
    await follow(stage.line.call, workflowId);
  });

  test('stops the deploys that stream it, which fail for that reason', async () => {
    const asked = Promise.withResolvers<{ operation: Operation; at: FakeSite }>();
    stage = await setStage(instead('deploy.image', (operation, at) => asked.resolve({ operation, at })));
    const workflowId = await deploy(stage.line, 'node-1');
    const { operation, at } = await asked.promise;
    expect((await withdraw(osDigest)).nodes).toMatchObject([{ nodeId: 'node-1', state: 'writing' }]);
    await expect.poll(() => at.cancelled).toContain(operation.operationId);
    await at.report(failedWith(operation, 'INVALID_STATE', 'cancelled'));
    await follow(stage.line.call, workflowId);
    expect(await workflow(stage.line.call, workflowId)).toMatchObject({
      state: 'failed',
      error: withdrawnError,
    });
  });

  test('lists the nodes that run it, and each of them gets an event', async () => {
    stage = await setStage();
    await deployed();
    const { line } = stage;
    expect(await withdraw(osDigest)).toMatchObject({
      digest: osDigest,
      why: 'CVE-2026-1',
      images: [{ tenantId: 'root', ref: 'demo-os@1' }],
      nodes: [
        { nodeId: 'node-1', tenantId: 'root', siteId: line.siteId, ref: 'demo-os@1', state: 'deployed' },
      ],
    });
    const events = await host((store) =>
      store.selectFrom('events').selectAll().where('type', '=', 'image.withdrawn').orderBy('seq').execute(),
    );
    expect(events.map(({ node_id, cause }) => [node_id, cause])).toEqual([
      [null, 'host'],
      ['node-1', 'host'],
    ]);
    expect(events[1]?.text).toBe('demo-os@1, which this machine runs, was withdrawn: CVE-2026-1');
  });

  test('is shown with when and why by images.get and images.list', async () => {
    stage = await setStage();
    const image = await mustRegister(stage.line.call, osImage({ ref: 'bad@1', sha256: 'b'.repeat(64) }));
    const { withdrawnAt: at } = await withdraw('b'.repeat(64));
    const input = { tenantId: 'root', imageId: image.imageId };
    const withdrawn = { at, why: 'CVE-2026-1' };
    expect((await stage.line.call('images.get', input)).data).toMatchObject({ withdrawn });
    const { data } = await stage.line.call<{ items: object[] }>('images.list', { tenantId: 'root' });
    expect(data.items).toContainEqual({ ...image, withdrawn });
  });

  test('may be used again once that is undone', async () => {
    stage = await setStage();
    await withdraw(osDigest);
    await host((store) => undoWithdrawal(store, osDigest));
    expect(await host(listWithdrawals)).toEqual([]);
    await deployed();
    await expect(host((store) => undoWithdrawal(store, osDigest))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

test('a withdrawal may come before the image, and a second one changes the reason alone', async () => {
  stage = await setStage();
  const first = await withdraw(`sha256:${'9'.repeat(64)}`, ' typo ');
  expect(first).toMatchObject({ digest: '9'.repeat(64), why: 'typo', images: [], nodes: [] });
  const second = await withdraw('9'.repeat(64), 'the real reason');
  expect(second).toEqual({ ...first, why: 'the real reason' });
  expect(await host(listWithdrawals)).toEqual([second]);
});

test.each([
  ['digest', 'demo-os@1', 'why not'],
  ['digest', 'a'.repeat(63), 'why not'],
  ['why', osDigest, ' '],
])('a withdrawal with a bad %s is refused', async (path, digest, why) => {
  stage = await setStage();
  await expect(withdraw(digest, why)).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { path } });
  expect(await host(listWithdrawals)).toEqual([]);
});

test('a withdrawal is one transaction: what fails in the middle of it leaves nothing', async () => {
  stage = await setStage();
  await host((store) => store.schema.alterTable('host_changes').renameTo('elsewhere').execute());
  await expect(withdraw(osDigest)).rejects.toThrow(/host_changes/);
  await host((store) => store.schema.alterTable('elsewhere').renameTo('host_changes').execute());
  expect(await host(listWithdrawals)).toEqual([]);
  const events = await host((store) =>
    store.selectFrom('events').select('text').where('type', '=', 'image.withdrawn').execute(),
  );
  expect(events).toEqual([]);
});

test('a machine is on record with the image that was written last; a write that failed leaves what was there before', async () => {
  let fails = false;
  stage = await setStage(async (operation, at) => {
    if (operation.action !== 'deploy.image' || !fails) return false;
    await at.report(failedWith(operation, 'DRIVER_ERROR', 'truncated'));
    return true;
  });
  const { call, signer } = stage.line;
  await deployed();
  expect(await node('node-1')).toMatchObject({ images: [{ digest: osDigest, state: 'deployed' }] });
  const other = 'c'.repeat(64);
  await mustRegister(call, signer.signed(osImage({ ref: 'other-os@1', sha256: other, sizeBytes: 1000 })));
  const { data } = await call<{ document: object }>('profiles.get', {
    tenantId: 'root',
    profileId: sampleProfile.id,
  });
  const document = { ...data.document, id: 'other', image: { ref: 'other-os@1' } };
  expect((await call('profiles.create', { tenantId: 'root', document })).status).toBe(200);
  const redeploy = async () => {
    // As after an undeploy that wiped nothing.
    await host((store) => store.updateTable('nodes').set({ state: 'ready' }).execute());
    await follow(call, await deploy(stage.line, 'node-1', { profileId: 'other' }));
  };
  fails = true;
  await redeploy();
  expect(await node('node-1')).toMatchObject({
    images: [
      { digest: osDigest, state: 'deployed' },
      { digest: other, state: 'writing' },
    ],
  });
  fails = false;
  await redeploy();
  expect(await node('node-1')).toMatchObject({ images: [{ digest: other, state: 'deployed' }] });
  expect((await withdraw(osDigest)).nodes).toEqual([]);
  await enroll(stage.line, 'node-2', '52:54:00:00:00:02');
  expect(await node('node-2')).toMatchObject({ images: [] });
});
