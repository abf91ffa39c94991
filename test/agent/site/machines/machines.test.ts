import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { publicJwk } from '#central/join/keys.ts';
import { type Bench, deployInput, mac, nodeId, prepared, setUpBench } from '../bench/bench.ts';
import { discover, leaseTo } from '../bench/leases.ts';
import {
  fetchScript,
  newMachine,
  newMachineKeys,
  type ScriptedMachine,
  tokenIn,
} from '../bench/scriptedMachine.ts';

const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  );

/** A site with a boot entry, and a machine that has joined under it. */
async function joinedMachine() {
  const bench = await prepared(await setUpBench());
  const token = tokenIn(await fetchScript(bench, mac));
  const machine = await newMachine(bench);
  const { session } = await machine.join(token, mac);
  return { bench, token, machine, session };
}

/** A site with a boot entry, and the boot token that its machine was given. */
async function waitingMachine() {
  const bench = await prepared(await setUpBench());
  return { bench, token: tokenIn(await fetchScript(bench, mac)) };
}

async function deploy(bench: Bench): Promise<string> {
  return bench.centre.order('deploy.image', nodeId, deployInput);
}

const ids = (answer: Awaited<ReturnType<ScriptedMachine['poll']>>) =>
  answer.operations.map((operation) => operation.operationId);

test('a second claimant of a boot token is refused, so is the first from then on, and an alarm is raised', async () => {
  const { bench, token, machine, session } = await joinedMachine();
  const second = await refused((await newMachine(bench)).join(token, mac));
  expect(second).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'contested' } });
  expect(await refused(machine.poll(session, [], 0))).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await refused(machine.join(token, mac))).toMatchObject({ code: 'FORBIDDEN' });
  await bench.centre.until(() => bench.centre.events.some((event) => event.type === 'machine.alarm'));
});

test('a contested machine gets no further token that lets it in before it boots again', async () => {
  const { bench, token } = await joinedMachine();
  const second = await newMachine(bench);
  await refused(second.join(token, mac));
  const again = second.join(tokenIn(await fetchScript(bench, mac)), mac);
  expect(await refused(again)).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'contested' } });
});

test.each(['running on', 'started again'])(
  'a contested machine that asks for a token without a script is not let in by it, the site %s',
  async (how) => {
    const { bench, token } = await joinedMachine();
    const second = await newMachine(bench);
    await refused(second.join(token, mac));
    if (how === 'started again') {
      await bench.stop();
      await bench.start();
    }
    const ask = async () => ((await second.client.post('/v1/token', { mac })) as { token: string }).token;
    expect(await refused(second.join(await ask(), mac))).toMatchObject({ details: { reason: 'contested' } });
    const script = await fetchScript(bench, mac);
    expect(await refused(second.join(tokenIn(script), mac))).toMatchObject({
      details: { reason: 'contested' },
    });
    await discover(bench, mac);
    expect(await second.join(await ask(), mac, 'boot-2')).toMatchObject({ nodeId });
  },
);

test('the next boot of a contested machine starts afresh', async () => {
  const { bench, token } = await joinedMachine();
  await refused((await newMachine(bench)).join(token, mac));
  await discover(bench, mac);
  const next = await (await newMachine(bench)).join(tokenIn(await fetchScript(bench, mac)), mac, 'boot-2');
  expect(next.nodeId).toBe(nodeId);
});

test('the same agent, started again, gets a new session and its operations again', async () => {
  const { bench, token, machine, session } = await joinedMachine();
  const operationId = await deploy(bench);
  expect(ids(await machine.poll(session))).toEqual([operationId]);
  const again = await (await newMachine(bench, { keys: machine.keys })).join(token, mac);
  expect(await refused(machine.poll(session, [], 0))).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(ids(await machine.poll(again.session))).toEqual([operationId]);
});

test('what a machine had begun before it restarted ends as unknown', async () => {
  const { bench, machine, session } = await joinedMachine();
  const operationId = await deploy(bench);
  await machine.poll(session);
  await discover(bench, mac);
  const rebooted = await newMachine(bench);
  await rebooted.join(tokenIn(await fetchScript(bench, mac)), mac, 'boot-2');
  expect(await bench.centre.result(operationId)).toMatchObject({
    outcome: 'unknown',
    error: { details: { reason: 'machine-restarted' } },
  });
});

test('what a machine had not begun waits for it over a restart', async () => {
  const { bench } = await joinedMachine();
  const operationId = await deploy(bench);
  await bench.centre.until(() => bench.centre.polls.some((poll) => poll.taken.includes(operationId)));
  await discover(bench, mac);
  const rebooted = await newMachine(bench);
  const { session } = await rebooted.join(tokenIn(await fetchScript(bench, mac)), mac, 'boot-2');
  expect(ids(await rebooted.poll(session))).toEqual([operationId]);
});

test('the newest boot token replaces the older', async () => {
  const bench = await prepared(await setUpBench());
  const older = tokenIn(await fetchScript(bench, mac));
  const newer = tokenIn(await fetchScript(bench, mac));
  const machine = await newMachine(bench);
  expect(await refused(machine.join(older, mac))).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await machine.join(newer, mac)).toMatchObject({ nodeId });
});

test('a boot token is for one interface', async () => {
  const bench = await prepared(await setUpBench());
  const token = tokenIn(await fetchScript(bench, mac));
  const other = await refused((await newMachine(bench)).join(token, '02:00:00:00:00:02'));
  expect(other).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'other-mac' } });
});

const otherAddress = '127.77.0.66';

test('whoever has read a boot token can not join with it from an address of its own, though it is first', async () => {
  const { bench, token } = await waitingMachine();
  const stranger = await refused((await newMachine(bench, { from: otherAddress })).join(token, mac));
  expect(stranger).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'other-address' } });
  await bench.centre.until(() => bench.centre.events.some((event) => event.type === 'machine.alarm'));
  expect(bench.centre.events.findLast(({ type }) => type === 'machine.alarm')).toMatchObject({
    ...{ reason: 'other-host', nodeId, mac },
    text: expect.stringContaining(otherAddress),
  });
  expect(await (await newMachine(bench)).join(token, mac)).toMatchObject({ nodeId });
});

test('an address that was leased to another machine since lets nobody in with the token that was given to it', async () => {
  const { bench, token } = await waitingMachine();
  await leaseTo(bench, '02:00:00:00:00:02');
  expect(await refused((await newMachine(bench)).join(token, mac))).toMatchObject({
    details: { reason: 'other-address' },
  });
  await leaseTo(bench, mac, otherAddress);
  const moved = await newMachine(bench, { from: otherAddress });
  expect(await moved.join(token, mac)).toMatchObject({ nodeId });
});

test('a ramdisk of another protocol version is refused by that name, whatever else is new in its message', async () => {
  const { bench, token } = await waitingMachine();
  const machine = await newMachine(bench);
  const message = { ...(await machine.message(token, mac)), protocol: 2, fieldOfThatVersion: '' };
  expect(await refused(machine.client.post('/v1/join', message))).toMatchObject({
    code: 'UNSUPPORTED',
    details: { reason: 'protocol', expected: 1, found: 2 },
  });
});

test('a join whose proof is by another key is refused', async () => {
  const bench = await prepared(await setUpBench());
  const token = tokenIn(await fetchScript(bench, mac));
  const [honest, forger] = [await newMachine(bench), await newMachine(bench)];
  const keys = { signing: forger.keys.signing, sealing: honest.keys.sealing };
  const message = await (await newMachine(bench, { keys })).message(token, mac);
  const stolen = { ...message, signingKey: (await honest.message(token, mac)).signingKey };
  expect(await refused(honest.client.post('/v1/join', stolen))).toMatchObject({
    code: 'UNAUTHENTICATED',
    details: { path: 'proof' },
  });
});

test('a machine whose key is on the list of the revoked is let in no more, also when the agent was killed with the list just written', async () => {
  const { bench, token, machine, session } = await joinedMachine();
  await bench.stop();
  const at = new Date().toISOString();
  const { x: subject } = publicJwk(machine.keys.signing);
  const entry = { kind: 'machine-key', subject, identity: `urn:railhead:node:${nodeId}`, at };
  const list = { number: Date.now(), issuedAt: at, expiresAt: at, revoked: [entry] };
  await writeFile(
    path.join(bench.stateDirectory, 'revocations.json'),
    JSON.stringify({ takenAt: Date.now(), list }),
  );
  await bench.start();
  expect(await refused(machine.poll(session, [], 0))).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await refused(machine.join(token, mac))).toMatchObject({
    code: 'FORBIDDEN',
    details: { reason: 'revoked' },
  });
});

test('after the entry is cleaned up its token lets nobody in', async () => {
  const { bench, token, machine } = await joinedMachine();
  await bench.centre.result(await bench.centre.order('boot.cleanUp', nodeId, {}));
  expect(await refused(machine.join(token, mac))).toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('a held poll is answered as soon as an operation arrives, and one that is taken is not repeated', async () => {
  const { bench, machine, session } = await joinedMachine();
  const held = machine.poll(session, [], 10);
  const operationId = await deploy(bench);
  expect(ids(await held)).toEqual([operationId]);
  expect(ids(await machine.poll(session, [operationId], 0))).toEqual([]);
  expect(ids(await machine.poll(session, [], 0))).toEqual([operationId]);
});

test("a machine that waits hears of the centre's new keys at once, and once", async () => {
  const { bench, machine, session } = await joinedMachine();
  const held = machine.poll(session, [], 20);
  const { authority, signing } = bench.centre;
  await bench.centre.tellKeys({
    number: 2,
    issuedAt: new Date().toISOString(),
    authorities: [authority.certificate],
    signingKeys: [publicJwk(newMachineKeys().signing), publicJwk(signing)],
  });
  expect(await held).toMatchObject({ operations: [], trust: [expect.any(String)] });
  expect(await machine.poll(session, [], 0)).toEqual({ operations: [], cancelled: [] });
});

test('a cancellation reaches the machine that has begun', async () => {
  const { bench, machine, session } = await joinedMachine();
  const operationId = await deploy(bench);
  await machine.poll(session);
  const held = machine.poll(session, [operationId], 10);
  bench.centre.cancel(operationId);
  expect((await held).cancelled).toEqual([operationId]);
});

test('a result that is not signed by the machine is refused and not journaled', async () => {
  const { bench, machine, session } = await joinedMachine();
  const operationId = await deploy(bench);
  await machine.poll(session);
  const forger = await newMachine(bench);
  const result = { operationId, outcome: 'succeeded', result: {} } as const;
  expect(await refused(forger.report(session, result))).toMatchObject({ code: 'FORBIDDEN' });
  await machine.report(session, { ...result, result: { device: '/dev/sda' } });
  expect(await bench.centre.result(operationId)).toMatchObject({ result: { device: '/dev/sda' } });
});

test('a result told twice reaches the centre once', async () => {
  const { bench, machine, session } = await joinedMachine();
  const operationId = await deploy(bench);
  await machine.poll(session);
  const result = { operationId, outcome: 'succeeded', result: {} } as const;
  await machine.report(session, result);
  await machine.report(session, result);
  await bench.centre.result(await bench.centre.order('boot.cleanUp', nodeId, {}));
  expect(bench.centre.results.filter((told) => told.operationId === operationId)).toHaveLength(1);
});

test('progress goes up, the newest of each operation', async () => {
  const { bench, machine, session } = await joinedMachine();
  const operationId = await deploy(bench);
  await machine.poll(session);
  for (const doneBytes of [1, 2, 3]) {
    const progress = { operationId, phase: 'write', doneBytes, totalBytes: 3, at: new Date().toISOString() };
    await machine.client.post('/v1/machine/report', { results: [], progress: [progress] }, { session });
  }
  const told = () => bench.centre.reports.flatMap((report) => report.progress);
  await bench.centre.until(() => told().some((progress) => progress.doneBytes === 3));
  expect(told().length).toBeLessThanOrEqual(2);
});

test('a machine without a command line gets its token only at the address that it leased', async () => {
  const bench = await prepared(await setUpBench());
  const machine = await newMachine(bench, { from: otherAddress });
  const ask = () => machine.client.post('/v1/token', { mac });
  expect(await refused(ask())).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'other-address' } });
  await leaseTo(bench, mac, otherAddress);
  const { token } = (await ask()) as { token: string };
  expect(await machine.join(token, mac)).toMatchObject({ nodeId });
});

test('a machine without an entry gets no token, and what is not in the route table is not found', async () => {
  const bench = await prepared(await setUpBench());
  const { client } = await newMachine(bench);
  expect(await refused(client.post('/v1/token', { mac: '02:00:00:00:00:09' }))).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await refused(client.post('/v1/agent/poll', {}))).toMatchObject({ code: 'NOT_FOUND' });
  expect(await refused(client.post('/healthz', {}))).toMatchObject({ code: 'NOT_FOUND' });
});

const efiLoader = { espGuid: '0b1c2d3e-4f50-8123-9abc-def012345678', path: '\\EFI\\BOOT\\BOOTX64.EFI' };

/** A machine whose deploys end as told; `script` is what it boots next, its entry gone. */
async function deployingMachine() {
  const { bench, machine, session } = await joinedMachine();
  return {
    bench,
    async deploys(result: Record<string, unknown>, outcome: 'succeeded' | 'failed' = 'succeeded') {
      const operationId = await deploy(bench);
      await machine.poll(session);
      await machine.report(session, { operationId, outcome, result });
    },
    async script() {
      await bench.centre.result(await bench.centre.order('boot.cleanUp', nodeId, {}));
      return fetchScript(bench, mac);
    },
  };
}

test('a deployed machine boots the disk that was written, also after the agent restarted', async () => {
  const { bench, deploys, script } = await deployingMachine();
  await deploys({ device: '/dev/sdc', efiLoader });
  expect(await script()).toContain(`--uuid ${efiLoader.espGuid} --filename ${efiLoader.path} ||`);
  await bench.stop();
  await bench.start();
  expect(await fetchScript(bench, mac)).toContain(`--uuid ${efiLoader.espGuid}`);
  expect(await fetchScript(bench, '02:00:00:00:00:09')).not.toContain('--uuid');
});

const otherGuid = 'ffffffff-4f50-8123-9abc-def012345678';

test.each([
  ['succeeded', otherGuid],
  ['failed', efiLoader.espGuid],
] as const)('after a further deploy that %s the script looks for %s', async (outcome, espGuid) => {
  const { deploys, script } = await deployingMachine();
  await deploys({ efiLoader });
  await deploys({ efiLoader: { ...efiLoader, espGuid: otherGuid } }, outcome);
  expect(await script()).toContain(`--uuid ${espGuid} `);
});

test.each([
  ['none', {}],
  ['a name that adds a line', { efiLoader: { ...efiLoader, path: '\\EFI\\x\nshell' } }],
  ['a GUID that adds words', { efiLoader: { ...efiLoader, espGuid: `${efiLoader.espGuid} || shell` } }],
  ['nonsense', { efiLoader: 7 }],
])('a deploy that tells %s leaves the drives in their order', async (_, told) => {
  const { deploys, script } = await deployingMachine();
  await deploys({ efiLoader });
  await deploys(told);
  const text = await script();
  expect(text).not.toContain('--uuid');
  expect(text).toContain('sanboot --no-describe --drive 0x80 ||');
});

test('a machine is given the secrets that its open operations refer to, and no others', async () => {
  const { bench, machine, session } = await joinedMachine();
  const own = { ref: 'secret://user-data/wf_1/ev_1', sealed: 'for.this.machine' };
  const foreign = { ref: 'secret://user-data/wf_2/ev_2', sealed: 'for.another.one' };
  const operationId = await bench.centre.order('deploy.image', nodeId, deployInput, { secrets: [own] });
  await bench.centre.order('deploy.image', 'node_01other', deployInput, { secrets: [foreign] });
  await machine.poll(session);
  expect(await machine.secret(session, own.ref)).toEqual({ sealed: own.sealed });
  expect(await refused(machine.secret(session, foreign.ref))).toMatchObject({ code: 'NOT_FOUND' });
  expect(await refused(machine.secret('nobody', own.ref))).toMatchObject({ code: 'UNAUTHENTICATED' });
  await machine.report(session, { operationId, outcome: 'succeeded', result: {} });
  expect(await refused(machine.secret(session, own.ref))).toMatchObject({ code: 'NOT_FOUND' });
});
