import { expect, test } from 'vitest';
import { readIdentity } from '#agent/join/identity.ts';
import { holdRequest } from '../../../e2e/intruder/heldRequest.ts';
import { type Bench, deployInput, mac, nodeId, prepared, setUpBench } from '../bench/bench.ts';
import { discover, leaseTo } from '../bench/leases.ts';
import { fetchScript, newMachine, type ScriptedMachine, tokenIn } from '../bench/scriptedMachine.ts';

const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  );

/** A machine that has joined and taken a deploy. */
async function deployingMachine() {
  const bench = await prepared(await setUpBench());
  const machine = await newMachine(bench);
  const { session } = await machine.join(tokenIn(await fetchScript(bench, mac)), mac);
  const operationId = await deploy(bench);
  await machine.poll(session);
  return { bench, machine, session, operationId };
}

function deploy({ centre }: Bench): Promise<string> {
  return centre.order('deploy.image', nodeId, deployInput);
}

const alarms = ({ centre }: Bench) => centre.events.filter((event) => event.type === 'machine.alarm');

/** Polls as a ramdisk does, until it is turned away; resolves with why. */
async function keepPolling(machine: ScriptedMachine, session: string, operationId: string) {
  for (;;) {
    const error = await refused(machine.poll(session, [operationId], 10));
    if (error !== undefined) return error;
  }
}

test('another host that names the MAC of a deploying machine gets no token, and an operator is told', async () => {
  const { bench, machine, session, operationId } = await deployingMachine();
  expect(await fetchScript(bench, mac, { from: '127.77.0.66' })).not.toContain('railhead.token');
  await bench.centre.until(() => alarms(bench).length > 0);
  await machine.report(session, { operationId, outcome: 'succeeded', result: {} });
  expect(await bench.centre.result(operationId)).toMatchObject({ outcome: 'succeeded' });
});

test("a host that has even the machine's address cannot join in the boot that the machine has joined in", async () => {
  const { bench, operationId } = await deployingMachine();
  const stolen = (await newMachine(bench)).join(tokenIn(await fetchScript(bench, mac)), mac);
  expect(await refused(stolen)).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'contested' } });
  expect(await bench.centre.result(operationId)).toMatchObject({
    outcome: 'unknown',
    error: { details: { reason: 'contested' } },
  });
  await bench.centre.until(() => alarms(bench).length === 1);
});

test('a host that feigns a restart of a machine that works on is refused, and so is the machine', async () => {
  const { bench, machine, session, operationId } = await deployingMachine();
  const turnedAway = keepPolling(machine, session, operationId);
  await discover(bench, mac);
  const attacker = await newMachine(bench);
  const stolen = attacker.join(tokenIn(await fetchScript(bench, mac)), mac, 'boot-attacker');
  expect(await refused(stolen)).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'contested' } });
  expect(await turnedAway).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await bench.centre.result(operationId)).toMatchObject({ outcome: 'unknown' });
  await bench.centre.until(() => alarms(bench).length === 1);
});

test('nothing that waited for a contested machine is told to the next one that joins', async () => {
  const { bench, machine, session, operationId } = await deployingMachine();
  const waiting = await deploy(bench);
  await bench.centre.until(() => bench.centre.polls.some((poll) => poll.taken.includes(waiting)));
  await refused((await newMachine(bench)).join(tokenIn(await fetchScript(bench, mac)), mac));
  expect(await refused(machine.poll(session, [operationId], 0))).toMatchObject({ code: 'UNAUTHENTICATED' });
  await discover(bench, mac);
  const next = await newMachine(bench);
  const joined = await next.join(tokenIn(await fetchScript(bench, mac)), mac, 'boot-2');
  expect(await next.poll(joined.session, [], 0)).toEqual({ operations: [], cancelled: [] });
  expect(await bench.centre.result(waiting)).toMatchObject({
    outcome: 'failed',
    error: { details: { reason: 'contested' } },
  });
});

test('a machine whose session ends while a body is on its way is told no secret and is not believed', async () => {
  const { bench, machine, session, operationId } = await deployingMachine();
  const { ca } = await readIdentity(bench.stateDirectory, 'site');
  const shown = { bearer: session, ca };
  const asking = await holdRequest(bench.machineUrl, '/v1/machine/secret', { ref: 'x' }, shown);
  const telling = await holdRequest(
    bench.machineUrl,
    '/v1/machine/report',
    { results: [], progress: [] },
    shown,
  );
  await refused((await newMachine(bench)).join(tokenIn(await fetchScript(bench, mac)), mac));
  for (const held of [asking, telling]) {
    const { status, text } = await held.finish();
    expect([status, JSON.parse(text)]).toMatchObject([401, { error: { details: { reason: 'no-session' } } }]);
  }
  expect(await refused(machine.report(session, { operationId, outcome: 'succeeded' }))).toMatchObject({
    code: 'UNAUTHENTICATED',
  });
});

test('a machine that was reset in mid-write joins again within seconds, though its connection still stands', async () => {
  const { bench, machine, session, operationId } = await deployingMachine();
  // A reset closes no connection: the poll of the machine that is no more stays open at the site.
  const leftOpen = machine.poll(session, [operationId], 25);
  await discover(bench, mac);
  const reset = await newMachine(bench);
  const startedAt = performance.now();
  const again = await reset.join(tokenIn(await fetchScript(bench, mac)), mac, 'boot-2');
  expect(again.nodeId).toBe(nodeId);
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expect(await bench.centre.result(operationId)).toMatchObject({
    outcome: 'unknown',
    error: { details: { reason: 'machine-restarted' } },
  });
  expect(alarms(bench)).toEqual([]);
  await leftOpen;
});

test("an address that was leased to the machine's address as that of other hardware is not the machine's", async () => {
  const bench = await prepared(await setUpBench());
  await leaseTo(bench, mac, '127.77.0.11', 6);
  expect(await fetchScript(bench, mac, { from: '127.77.0.11' })).not.toContain('railhead.token');
  const token = tokenIn(await fetchScript(bench, mac));
  const stranger = await newMachine(bench, { from: '127.77.0.11' });
  expect(await refused(stranger.join(token, mac))).toMatchObject({ code: 'FORBIDDEN' });
});
