import { expect, test } from 'vitest';
import type { DeployImage } from '#contract/operations.ts';
import { type Bench, mac, nodeId, setUpBench, siteId } from './bench/bench.ts';
import { fetchScript, newMachine, tokenIn } from './bench/scriptedMachine.ts';

const entryFor = (bench: Bench) =>
  bench.centre.signEntry({
    siteId,
    nodeId,
    macs: [mac],
    ramdisk: { ref: bench.ramdisk.ref, digests: { x86_64: bench.ramdisk.digest } },
  });

const deployInput: DeployImage = {
  ref: 'demo@1',
  digest: '0'.repeat(64),
  format: 'raw',
  compression: 'none',
  sources: [],
};

test('a machine is prepared, boots, joins, works and is cleaned up', async () => {
  const bench = await setUpBench();
  const { centre } = bench;
  await bench.start();
  const prepare = await centre.order('boot.prepareRamdisk', nodeId, { entry: await entryFor(bench) });
  expect(await centre.result(prepare)).toMatchObject({ outcome: 'succeeded', result: { macs: [mac] } });

  const script = await fetchScript(bench, mac);
  expect(script).toContain(`/images/sha256/${bench.ramdisk.digest} console=ttyS0,115200`);
  expect(await (await fetch(`${bench.httpUrl}/images/sha256/${bench.ramdisk.digest}`)).text()).toBe(
    'the bytes of a ramdisk',
  );
  const machine = newMachine(bench);
  const joined = await machine.join(tokenIn(script), mac);
  expect(joined).toMatchObject({ siteId, nodeId, imagesUrl: `${bench.httpUrl}/images` });
  await centre.until(() =>
    centre.events.some((event) => event.type === 'agent.joined' && event.nodeId === nodeId),
  );

  const deploy = await centre.order('deploy.image', nodeId, deployInput);
  const answer = await machine.poll(joined.session);
  expect(answer.operations.map((operation) => operation.operationId)).toEqual([deploy]);
  await machine.report(joined.session, {
    operationId: deploy,
    outcome: 'succeeded',
    result: { device: '/dev/sda' },
  });
  expect(await centre.result(deploy)).toMatchObject({ outcome: 'succeeded', result: { device: '/dev/sda' } });

  const kexec = await centre.order('boot.kexec', nodeId, {});
  await machine.poll(joined.session, [deploy]);
  await machine.report(joined.session, { operationId: kexec, outcome: 'succeeded', result: {} });
  await centre.result(kexec);
  expect(await fetchScript(bench, mac)).not.toContain('railhead.token');

  const cleanUp = await centre.order('boot.cleanUp', nodeId, {});
  expect(await centre.result(cleanUp)).toMatchObject({ outcome: 'succeeded', result: { removed: false } });
});
