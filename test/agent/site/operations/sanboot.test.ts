import { expect, test } from 'vitest';
import { RailheadError } from '#contract/errors.ts';
import { digest, type ExecutorBench, mac, pendingImage, setUpExecutor } from '../bench/executorBench.ts';

const entryOf = ({ state }: ExecutorBench) => state.entries.byMac(mac, Date.now());

/** A node whose CD is an ISO of the site's cache. */
async function withIso(more: { expiresAt?: string } = {}): Promise<ExecutorBench> {
  const bench = await setUpExecutor();
  const insert = bench.journal('media.insert', { entry: await bench.isoEntry() });
  await bench.start();
  expect(await bench.result(insert)).toMatchObject({ outcome: 'succeeded' });
  const entry = entryOf(bench);
  if (entry !== undefined && more.expiresAt !== undefined) bench.state.entries.put({ ...entry, ...more }, '');
  return bench;
}

/** Hands one more operation to an executor that starts anew, as after a restart of the agent. */
async function afterRestart(bench: ExecutorBench, operationId: string) {
  bench.start();
  return bench.result(operationId);
}

test('the entry of an ISO shows up once the cache holds it, and no BMC is asked', async () => {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const bench = await setUpExecutor({ ready: () => arrived });
  const insert = bench.journal('media.insert', { entry: await bench.isoEntry() });
  bench.start();
  await new Promise(setImmediate);
  expect(bench.state.entries.all()).toEqual([]);
  arrive();
  const result = { by: 'sanboot', entryId: expect.any(String), expiresAt: expect.any(String) };
  expect(await bench.result(insert)).toMatchObject({ outcome: 'succeeded', result });
  expect(entryOf(bench)).toMatchObject({ iso: { ref: 'installer@1', digest } });
  expect(bench.machine.calls).toEqual([]);
});

test('cancelling ends the wait for an ISO, and no entry is left', async () => {
  const { asked, ready } = pendingImage();
  const bench = await setUpExecutor({ ready });
  const insert = bench.journal('media.insert', { entry: await bench.isoEntry() });
  const executor = bench.start();
  await asked;
  executor.cancel([insert]);
  expect(await bench.result(insert)).toMatchObject({ error: { details: { reason: 'cancelled' } } });
  expect(bench.state.entries.all()).toEqual([]);
});

test.each([
  ['another site', { siteId: 'site_other' }, 'FORBIDDEN'],
  ['another node', { nodeId: 'node_other' }, 'FORBIDDEN'],
  ['a time that is over', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'INVALID_STATE'],
])("an ISO's entry for %s is refused and not kept", async (_what, more, code) => {
  const bench = await setUpExecutor();
  const insert = bench.journal('media.insert', { entry: await bench.isoEntry(more) });
  bench.start();
  expect(await bench.result(insert)).toMatchObject({ outcome: 'failed', error: { code } });
  expect(bench.state.entries.all()).toEqual([]);
});

test("an ISO's entry that another key signed is refused", async () => {
  const [bench, stranger] = [await setUpExecutor(), await setUpExecutor()];
  const insert = bench.journal('media.insert', { entry: await stranger.isoEntry() });
  bench.start();
  expect(await bench.result(insert)).toMatchObject({
    error: { code: 'FORBIDDEN', details: { reason: 'signature' } },
  });
});

test('an entry is placed only by the operation of its kind', async () => {
  const bench = await setUpExecutor();
  const insert = bench.journal('media.insert', { entry: await bench.entry() });
  const prepare = bench.journal('boot.prepareRamdisk', { entry: await bench.isoEntry() });
  bench.start();
  for (const operation of [insert, prepare])
    expect(await bench.result(operation)).toMatchObject({ error: { code: 'INVALID_INPUT' } });
  expect(bench.state.entries.all()).toEqual([]);
});

test('while the entry is in force cd means pxe, after a restart too; media.eject ends it', async () => {
  const bench = await withIso();
  const first = await afterRestart(bench, bench.journal('management.setBootDevice', { device: 'cd' }));
  expect(first).toMatchObject({ outcome: 'succeeded', result: { device: 'pxe', insteadOf: 'cd' } });
  const interrupted = bench.journal('management.setBootDevice', { device: 'cd' }, { started: Date.now() });
  expect(await afterRestart(bench, interrupted)).toMatchObject({ result: { device: 'pxe', repeated: true } });
  const disk = await afterRestart(bench, bench.journal('management.setBootDevice', { device: 'disk' }));
  expect(disk.result).toEqual({ device: 'disk', persistent: false });

  const eject = await afterRestart(bench, bench.journal('media.eject', {}));
  expect(eject).toMatchObject({ outcome: 'succeeded' });
  expect(bench.state.entries.all()).toEqual([]);
  const last = await afterRestart(bench, bench.journal('management.setBootDevice', { device: 'cd' }));
  expect(last.result).toEqual({ device: 'cd', persistent: false });
  expect(bench.machine.calls).toEqual([
    'setBootDevice pxe',
    'setBootDevice pxe',
    'setBootDevice disk',
    'ejectMedia',
    'setBootDevice cd',
  ]);
});

test('an entry that has ended does not make cd pxe', async () => {
  const bench = await withIso({ expiresAt: '2020-01-01T00:00:00.000Z' });
  const set = bench.journal('management.setBootDevice', { device: 'cd' });
  expect(await afterRestart(bench, set)).toMatchObject({ result: { device: 'cd' } });
});

test("media.eject leaves a ramdisk's entry, under which cd stays cd", async () => {
  const bench = await setUpExecutor();
  const prepare = bench.journal('boot.prepareRamdisk', { entry: await bench.entry() });
  const set = bench.journal('management.setBootDevice', { device: 'cd' });
  const eject = bench.journal('media.eject', {});
  bench.start();
  await bench.result(prepare);
  expect(await bench.result(set)).toMatchObject({ result: { device: 'cd' } });
  expect(await bench.result(eject)).toMatchObject({ outcome: 'succeeded' });
  expect(entryOf(bench)).toBeDefined();
});

test('a medium that the BMC mounts takes the place of the ISO: cd is cd again', async () => {
  const bench = await withIso();
  const url = 'https://images.example.com/rescue.iso';
  expect(await afterRestart(bench, bench.journal('media.insert', { url }))).toMatchObject({
    result: { by: 'virtual-media', url },
  });
  expect(entryOf(bench)).toBeUndefined();
  const set = bench.journal('management.setBootDevice', { device: 'cd' });
  expect((await afterRestart(bench, set)).result).toEqual({ device: 'cd', persistent: false });
});

test('an eject that the BMC fails has removed the entry all the same', async () => {
  const bench = await withIso();
  bench.machine.failWith = new RailheadError('DRIVER_ERROR', 'away', { reason: 'unreachable' });
  const eject = await afterRestart(bench, bench.journal('media.eject', {}));
  expect(eject).toMatchObject({ outcome: 'failed', error: { details: { reason: 'unreachable' } } });
  expect(entryOf(bench)).toBeUndefined();
});
