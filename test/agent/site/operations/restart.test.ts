import { expect, test } from 'vitest';
import { mac, pendingImage, setUpExecutor } from '../bench/executorBench.ts';

/** What a killed agent leaves: the operation is marked as begun, and nobody knows whether the act was done. */
const begun = () => ({ started: Date.now() - 1000 });

test('power that is as it was asked for settles the operation without doing it again', async () => {
  const bench = await setUpExecutor();
  bench.machine.power = 'on';
  const on = bench.journal('power.setPower', { action: 'on' }, begun());
  bench.start();
  expect(await bench.result(on)).toMatchObject({
    outcome: 'succeeded',
    result: { power: 'on', settled: true },
  });
  expect(bench.machine.calls).toEqual(['getPower']);
});

test('power that is not as it was asked for is unknown, and nothing is done', async () => {
  const bench = await setUpExecutor();
  const on = bench.journal('power.setPower', { action: 'on' }, begun());
  bench.start();
  expect(await bench.result(on)).toMatchObject({
    outcome: 'unknown',
    error: { details: { reason: 'interrupted', power: 'off' } },
  });
  expect(bench.machine.calls).toEqual(['getPower']);
});

test.each(['cycle', 'reset', 'graceful-restart'] as const)(
  '%s is never done twice: without a boot seen it is unknown',
  async (action) => {
    const bench = await setUpExecutor();
    bench.machine.power = 'on';
    const cycle = bench.journal('power.setPower', { action }, begun());
    bench.start();
    expect(await bench.result(cycle)).toMatchObject({
      outcome: 'unknown',
      error: { details: { booted: false } },
    });
    expect(bench.machine.calls).toEqual(['getPower']);
  },
);

test('a network boot seen since the act was begun proves a restart', async () => {
  const bench = await setUpExecutor();
  bench.machine.power = 'on';
  const cycle = bench.journal('power.setPower', { action: 'cycle' }, begun());
  bench.state.events.add({ type: 'boot.dhcp', text: 'address', mac, bootId: 'boot_1' });
  bench.start();
  expect(await bench.result(cycle)).toMatchObject({ outcome: 'succeeded', result: { settled: true } });
});

test('reading power again and setting the boot device again is harmless, and the result says so', async () => {
  const bench = await setUpExecutor();
  const read = bench.journal('power.getPower', {}, begun());
  const device = bench.journal('management.setBootDevice', { device: 'pxe' }, begun());
  bench.start();
  expect(await bench.result(read)).toMatchObject({
    outcome: 'succeeded',
    result: { power: 'off', repeated: true },
  });
  expect(await bench.result(device)).toMatchObject({
    outcome: 'succeeded',
    result: { device: 'pxe', persistent: false, repeated: true },
  });
});

test('preparing and cleaning up end as if nothing had happened', async () => {
  const bench = await setUpExecutor();
  const prepare = bench.journal('boot.prepareRamdisk', { entry: await bench.entry() }, begun());
  const executor = bench.start();
  expect(await bench.result(prepare)).toMatchObject({ outcome: 'succeeded', result: { repeated: true } });
  const cleanUp = bench.journal('boot.cleanUp', {}, begun());
  executor.wake();
  expect(await bench.result(cleanUp)).toMatchObject({ outcome: 'succeeded', result: { removed: true } });
});

test('an operation that our own stop interrupts stays open for the next start', async () => {
  const { asked, ready } = pendingImage();
  const bench = await setUpExecutor({ ready });
  const prepare = bench.journal('boot.prepareRamdisk', { entry: await bench.entry() });
  const executor = bench.start();
  await asked;
  await executor.close();
  expect(bench.state.journal.find(prepare)?.startedAt).toBeDefined();
  expect(bench.state.journal.results(10)).toEqual([]);
});

test('stopping does not wait for a BMC that does not answer', async () => {
  const bench = await setUpExecutor();
  bench.machine.gate = new Promise(() => {});
  const on = bench.journal('power.setPower', { action: 'on' });
  const executor = bench.start();
  await new Promise(setImmediate);
  await executor.close();
  expect(bench.machine.calls).toEqual(['setPower on']);
  expect(bench.state.journal.find(on)?.startedAt).toBeDefined();
});
