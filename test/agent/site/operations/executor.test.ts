import { expect, test } from 'vitest';
import { RailheadError } from '#contract/errors.ts';
import { digest, mac, nodeId, pendingImage, setUpExecutor } from '../bench/executorBench.ts';

test('power is read, set, and the result is in the journal', async () => {
  const bench = await setUpExecutor();
  const on = bench.journal('power.setPower', { action: 'on' });
  const read = bench.journal('power.getPower', {});
  bench.start();
  expect(await bench.result(on)).toMatchObject({ outcome: 'succeeded', result: { power: 'on' } });
  expect(await bench.result(read)).toMatchObject({ outcome: 'succeeded', result: { power: 'on' } });
  expect(bench.machine.calls).toEqual(['setPower on', 'getPower']);
});

test('an image is put into the virtual drive and taken out of it', async () => {
  const bench = await setUpExecutor();
  const url = 'https://images.example.com/rescue.iso';
  const insert = bench.journal('media.insert', { url });
  const eject = bench.journal('media.eject', {});
  bench.start();
  const inserted = { outcome: 'succeeded', result: { url, by: 'virtual-media' } };
  expect(await bench.result(insert)).toMatchObject(inserted);
  expect(await bench.result(eject)).toMatchObject({ outcome: 'succeeded' });
  expect(bench.machine.calls).toEqual([`insertMedia ${url}`, 'ejectMedia']);
});

test('a result that cannot be written down is kept until it can', async () => {
  const bench = await setUpExecutor();
  const on = bench.journal('power.setPower', { action: 'on' });
  const { database } = bench.state;
  database.exec(
    "CREATE TRIGGER full BEFORE UPDATE OF result ON operations BEGIN SELECT RAISE(ABORT, 'no room'); END",
  );
  bench.start();
  await expect.poll(() => bench.machine.power).toBe('on');
  database.exec('DROP TRIGGER full');
  expect(await bench.result(on)).toMatchObject({ outcome: 'succeeded', result: { power: 'on' } });
  expect(bench.machine.calls).toEqual(['setPower on']);
});

test('a boot entry that the centre signed is kept, and cleaned up', async () => {
  const bench = await setUpExecutor();
  const prepare = bench.journal('boot.prepareRamdisk', { entry: await bench.entry() });
  const executor = bench.start();
  expect(await bench.result(prepare)).toMatchObject({ outcome: 'succeeded' });
  expect(bench.state.entries.byMac(mac, Date.now())).toMatchObject({
    ramdisk: { digests: { x86_64: digest } },
  });
  const cleanUp = bench.journal('boot.cleanUp', {});
  executor.wake();
  expect(await bench.result(cleanUp)).toMatchObject({ outcome: 'succeeded', result: { removed: true } });
  expect(bench.state.entries.byMac(mac, Date.now())).toBeUndefined();
});

test.each([
  ['another site', { siteId: 'site_other' }, 'FORBIDDEN'],
  ['another node', { nodeId: 'node_other' }, 'FORBIDDEN'],
  ['a time that is over', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'INVALID_STATE'],
])('a boot entry for %s is refused and not kept', async (_what, more, code) => {
  const bench = await setUpExecutor();
  const prepare = bench.journal('boot.prepareRamdisk', { entry: await bench.entry(more) });
  bench.start();
  expect(await bench.result(prepare)).toMatchObject({ outcome: 'failed', error: { code } });
  expect(bench.state.entries.all()).toEqual([]);
});

test('a boot entry signed by another key is refused', async () => {
  const [bench, stranger] = [await setUpExecutor(), await setUpExecutor()];
  const prepare = bench.journal('boot.prepareRamdisk', { entry: await stranger.entry() });
  bench.start();
  expect(await bench.result(prepare)).toMatchObject({
    outcome: 'failed',
    error: { code: 'FORBIDDEN', details: { reason: 'signature' } },
  });
});

test('an entry does not show up before its ramdisk is in the cache', async () => {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const bench = await setUpExecutor({ ready: () => arrived });
  const prepare = bench.journal('boot.prepareRamdisk', { entry: await bench.entry() });
  bench.start();
  await new Promise(setImmediate);
  expect(bench.state.entries.all()).toEqual([]);
  arrive();
  expect(await bench.result(prepare)).toMatchObject({ outcome: 'succeeded' });
  expect(bench.state.entries.all()).toHaveLength(1);
});

test("the BMC's error is the operation's", async () => {
  const bench = await setUpExecutor();
  bench.machine.failWith = new RailheadError('DRIVER_ERROR', 'power did not change', {
    reason: 'power-timeout',
  });
  const on = bench.journal('power.setPower', { action: 'on' });
  bench.start();
  expect(await bench.result(on)).toMatchObject({
    outcome: 'failed',
    error: { code: 'DRIVER_ERROR', details: { reason: 'power-timeout' } },
  });
});

test('an operation past its deadline is not begun', async () => {
  const bench = await setUpExecutor();
  const late = bench.journal('power.setPower', { action: 'on' }, { expiresAt: '2020-01-01T00:00:00.000Z' });
  bench.start();
  expect(await bench.result(late)).toMatchObject({
    outcome: 'failed',
    error: { details: { reason: 'expired' } },
  });
  expect(bench.machine.calls).toEqual([]);
});

test('an operation that was cancelled before its turn is not begun', async () => {
  const bench = await setUpExecutor();
  const on = bench.journal('power.setPower', { action: 'on' });
  bench.state.journal.cancel([on]);
  bench.start();
  expect(await bench.result(on)).toMatchObject({
    outcome: 'failed',
    error: { details: { reason: 'cancelled' } },
  });
  expect(bench.machine.calls).toEqual([]);
});

test('cancelling ends the wait for an image', async () => {
  const { asked, ready } = pendingImage();
  const bench = await setUpExecutor({ ready });
  const prepare = bench.journal('boot.prepareRamdisk', { entry: await bench.entry() });
  const executor = bench.start();
  await asked;
  executor.cancel([prepare]);
  expect(await bench.result(prepare)).toMatchObject({
    outcome: 'failed',
    error: { details: { reason: 'cancelled' } },
  });
});

test('an action that this site does not know is UNSUPPORTED, wrong input INVALID_INPUT', async () => {
  const bench = await setUpExecutor();
  const strange = bench.journal('power.getPower', {}, { action: 'power.dance' });
  const wrong = bench.journal('power.setPower', { action: 'jump' } as never);
  bench.start();
  expect(await bench.result(strange)).toMatchObject({ error: { code: 'UNSUPPORTED' } });
  expect(await bench.result(wrong)).toMatchObject({
    error: { code: 'INVALID_INPUT', details: { path: 'action' } },
  });
});

test('a node that the spec does not name is NOT_FOUND', async () => {
  const bench = await setUpExecutor({ node: false });
  const read = bench.journal('power.getPower', {});
  bench.start();
  expect(await bench.result(read)).toMatchObject({ error: { code: 'NOT_FOUND', details: { nodeId } } });
});

test("a node's operations run one after the other", async () => {
  const bench = await setUpExecutor();
  let open = () => {};
  bench.machine.gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const first = bench.journal('power.setPower', { action: 'off' });
  const second = bench.journal('power.setPower', { action: 'on' });
  bench.start();
  await new Promise(setImmediate);
  expect(bench.machine.calls).toEqual(['setPower off']);
  open();
  await bench.result(second);
  expect(bench.state.journal.results(10).map((result) => result.operationId)).toEqual([first, second]);
});
