import { expect, test } from 'vitest';
import { bootEntry, deployInput, mac, nodeId, setUpBench, siteId } from './bench/bench.ts';
import { leaseTo } from './bench/leases.ts';
import { fetchScript, newMachine, tokenIn } from './bench/scriptedMachine.ts';

test('a machine is prepared, boots, joins, works and is cleaned up', async () => {
  const bench = await setUpBench();
  const { centre } = bench;
  await bench.start();
  await leaseTo(bench, mac);
  await leaseTo(bench, mac);
  const prepare = await centre.order('boot.prepareRamdisk', nodeId, { entry: await bootEntry(bench) });
  expect(await centre.result(prepare)).toMatchObject({ outcome: 'succeeded', result: { macs: [mac] } });

  const script = await fetchScript(bench, mac);
  expect(script).toContain(
    `/images/sha256/${bench.ramdisk.digest}/sections/linux initrd=initrd quiet console=ttyS0,115200`,
  );
  expect(await (await fetch(`${bench.httpUrl}/images/sha256/${bench.ramdisk.digest}`)).text()).toBe(
    'the bytes of a ramdisk',
  );
  const machine = await newMachine(bench);
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
