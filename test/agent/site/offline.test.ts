import { expect, test } from 'vitest';
import {
  type Bench,
  bootEntry,
  deployInput,
  mac,
  nodeId,
  prepared,
  setUpBench,
  siteId,
} from './bench/bench.ts';
import { fetchScript, newMachine, tokenIn } from './bench/scriptedMachine.ts';

const told = ({ centre }: Bench, operationId: string) =>
  centre.results.filter((result) => result.operationId === operationId);

test('with the centre down a machine boots, joins and finishes its work; the results arrive once when it is back', async () => {
  const bench = await prepared(await setUpBench());
  const { centre } = bench;
  const operationId = await centre.order('deploy.image', nodeId, deployInput);
  await centre.until(() => centre.polls.some((poll) => poll.taken.includes(operationId)));
  await centre.down();

  const machine = await newMachine(bench);
  const { session } = await machine.join(tokenIn(await fetchScript(bench, mac)), mac);
  expect((await machine.poll(session)).operations).toHaveLength(1);
  const image = await fetch(`${bench.httpUrl}/images/sha256/${bench.ramdisk.digest}`);
  expect(image.status).toBe(200);
  await machine.report(session, { operationId, outcome: 'succeeded', result: {} });

  await centre.up();
  expect(await centre.result(operationId)).toMatchObject({ outcome: 'succeeded' });
  const joins = () => centre.events.filter((event) => event.type === 'agent.joined');
  await centre.until(() => joins().length > 0);
  await centre.result(await centre.order('boot.cleanUp', nodeId, {}));
  expect(told(bench, operationId)).toHaveLength(1);
  expect(joins()).toHaveLength(1);
});

test('reports that the centre does not take are kept and told once it does', async () => {
  const bench = await setUpBench();
  const { centre } = bench;
  centre.refuseReports = true;
  await bench.start();
  const cleanUp = await centre.order('boot.cleanUp', nodeId, {});
  await centre.until(() => centre.polls.some((poll) => poll.taken.includes(cleanUp)));
  centre.refuseReports = false;
  expect(await centre.result(cleanUp)).toMatchObject({ outcome: 'succeeded' });
  expect(told(bench, cleanUp)).toHaveLength(1);
});

test('a site that starts again keeps entries, sessions and results, and tells what is queued before it polls', async () => {
  const bench = await prepared(await setUpBench());
  const { centre } = bench;
  const machine = await newMachine(bench);
  const { session } = await machine.join(tokenIn(await fetchScript(bench, mac)), mac);
  const operationId = await centre.order('deploy.image', nodeId, deployInput);
  await machine.poll(session);
  await centre.down();
  await machine.report(session, { operationId, outcome: 'succeeded', result: {} });
  await bench.stop();

  const { reports, polls } = { reports: centre.reports.length, polls: centre.polls.length };
  await centre.up();
  let pollsBeforeReport = 0;
  const result = centre.result(operationId).then(() => {
    pollsBeforeReport = centre.polls.length - polls;
  });
  await bench.start();
  await result;
  expect(pollsBeforeReport).toBe(0);
  expect(centre.reports[reports]?.results).toHaveLength(1);
  expect((await machine.poll(session, [], 0)).operations).toEqual([]);
  expect(await fetchScript(bench, mac)).toContain('railhead.token=');
});

test('an operation that the centre hands out again is not done twice, and its result is told again', async () => {
  const bench = await prepared(await setUpBench());
  const { centre } = bench;
  const cleanUp = await centre.order('boot.cleanUp', nodeId, {});
  const first = await centre.result(cleanUp);
  expect(first.result).toEqual({ removed: true });
  centre.repeat(cleanUp);
  await centre.until(() => told(bench, cleanUp).length === 2);
  expect(told(bench, cleanUp)[1]).toEqual(first);
});

test("another site's desired state is not taken", async () => {
  const bench = await prepared(await setUpBench());
  const { centre } = bench;
  const polls = centre.polls.length;
  centre.setSpec('site_other', { cacheImages: [], nodes: [] });
  await centre.until(() => centre.polls.length > polls);
  const cleanUp = await centre.order('boot.cleanUp', nodeId, {});
  await centre.result(cleanUp);
  expect(centre.polls.at(-1)?.observedGeneration).toBe(1);
});

test('a site serves the boot entries of its desired state, and no other', async () => {
  const bench = await prepared(await setUpBench());
  const { centre, ramdisk } = bench;
  const node = { nodeId, macs: [mac] };
  const state = (bootEntries: string[]) =>
    centre.setSpec(siteId, { cacheImages: [ramdisk], nodes: [node], bootEntries });
  const observed = (generation: number) =>
    centre.until(() => centre.polls.at(-1)?.observedGeneration === generation);
  state([]);
  await observed(2);
  expect(await fetchScript(bench, mac)).not.toContain('railhead.token=');
  state([await bootEntry(bench), 'no.entry.atall']);
  await observed(3);
  expect(await fetchScript(bench, mac)).toContain('railhead.token=');
});
