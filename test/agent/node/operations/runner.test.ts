import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openJournal } from '#agent/node/operations/journal.ts';
import { reporting } from '#agent/node/operations/reporting.ts';
import { startRunner } from '#agent/node/operations/runner.ts';
import { createWake } from '#agent/site/wake.ts';
import { signDocument, verifyDocument } from '#base/jws.ts';
import { openLog } from '#base/log.ts';
import type { AgentReport } from '#contract/agentWire.ts';
import { spkiPin } from '#contract/join.ts';
import type { Operation, OperationProgress, OperationResult } from '#contract/operations.ts';

const centre = generateKeyPairSync('ed25519');
const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const nodeId = 'node-1';
const kept = {
  current: { nodeId, privateKey: own.privateKey.export({ type: 'pkcs8', format: 'pem' }) } as never,
  signingKeys: () => [centre.publicKey],
};
const passed = { category: 'Deployment', name: 'software', status: 'passed' };
/** For whatever a busy machine is slow with. */
const patient = { timeout: 20_000 };

let directory: string;
let stop: AbortController;
let told: OperationProgress[];

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'railhead-node-'));
  await mkdir(path.join(directory, 'sys/block'), { recursive: true });
  stop = new AbortController();
  told = [];
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
  await dcgmi('true');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

/** Puts a `dcgmi` on the path that counts its calls and runs `script` before it tells that all is well. */
async function dcgmi(script: string): Promise<void> {
  const results = [{ status: 'Pass' }];
  const report = {
    'DCGM Diagnostic': {
      test_categories: [{ category: 'Deployment', tests: [{ name: 'software', results }] }],
    },
  };
  const text = `#!/bin/sh\necho run >>${directory}/calls\n${script}\necho '${JSON.stringify(report)}'\n`;
  await writeFile(path.join(directory, 'dcgmi'), text, { mode: 0o755 });
}
const calls = async () =>
  (await readFile(path.join(directory, 'calls'), 'utf8').catch(() => '')).split('\n').length - 1;

async function ordered(
  changes: Partial<Operation> = {},
  key: KeyObject = centre.privateKey,
): Promise<Operation> {
  const operation: Operation = {
    operationId: 'op_1',
    nodeId,
    machine: spkiPin(own.publicKey),
    target: 'node',
    action: 'diag.dcgm',
    input: { level: 1 },
    expiresAt: new Date(Date.now() + 60_000).toISOString(),
    ...changes,
  };
  return { ...operation, jws: await signDocument('railhead-operation', operation, key) };
}

const open = () => openJournal(directory);
type Journal = Awaited<ReturnType<typeof open>>;

function start(journal: Journal, ended = () => {}) {
  const log = openLog('test', 'silent');
  const progress = (one: OperationProgress) => void told.push(one);
  return startRunner({ kept, journal, root: directory, progress, ended, signal: stop.signal, log });
}

async function run(...operations: Operation[]): Promise<OperationResult[]> {
  const journal = await open();
  await journal.receive(operations);
  await start(journal).idle();
  return journal.untold();
}

/** What the node itself signed of a result. */
const signed = ({ jws = '' }: OperationResult) =>
  verifyDocument(
    'railhead-result',
    jws,
    createPublicKey(own.publicKey.export({ type: 'spki', format: 'pem' })),
  );

test('a diagnosis runs, tells its progress, and its result is signed by the key of the certificate', async () => {
  const [result] = await run(await ordered());
  expect(result).toMatchObject({ outcome: 'succeeded', result: { level: 1, tests: [passed] } });
  const { jws: _, ...plain } = result as OperationResult;
  expect(await signed(result as OperationResult)).toEqual(plain);
  expect(told).toMatchObject([{ operationId: 'op_1', phase: 'testing the GPUs at level 1' }]);
});

test('an inventory tells what the machine is made of', async () => {
  const [result] = await run(await ordered({ action: 'inventory.refresh', input: {} }));
  expect(result?.result).toMatchObject({ sections: { system: { bootMode: 'bios' }, disks: [], nics: [] } });
});

test.each([
  ['another node', { nodeId: 'node-2' }, 'FORBIDDEN', 'node'],
  ['another key', { machine: 'sha256/other' }, 'FORBIDDEN', 'machine'],
  ['the ramdisk', { target: 'ramdisk' as const }, 'FORBIDDEN', 'target'],
  ['an earlier time', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'FORBIDDEN', 'expired'],
  ['what only a ramdisk does', { action: 'disk.wipe', input: { mode: 'quick' } }, 'UNSUPPORTED', undefined],
])('an operation for %s is refused, by a signed result', async (_what, changes, code, reason) => {
  const [result] = await run(await ordered(changes));
  expect(result).toMatchObject({ outcome: 'failed', error: { code } });
  expect(result?.error?.details?.reason).toBe(reason);
  expect(await signed(result as OperationResult)).toMatchObject({ outcome: 'failed' });
  expect(await calls()).toBe(0);
});

test('what another key than the centre signed, or nobody, is refused', async () => {
  const forged = await ordered({ operationId: 'op_2' }, generateKeyPairSync('ed25519').privateKey);
  const { jws: _, ...unsigned } = await ordered();
  for (const { error } of await run(forged, unsigned))
    expect(error).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'signature' } });
  expect(await calls()).toBe(0);
});

test('an id is used once, also after a restart and when its result has been taken', async () => {
  const [result] = await run(await ordered());
  const journal = await open();
  await journal.told([result as OperationResult]);
  expect(await run(await ordered())).toEqual([]);
  expect(await calls()).toBe(1);
});

test('what is out of time is forgotten with its result', async () => {
  const expiresAt = new Date(Date.now() + 400).toISOString();
  const [result] = await run(await ordered({ expiresAt }));
  const journal = await open();
  await expect.poll(() => Date.now() > Date.parse(expiresAt), patient).toBe(true);
  await journal.told([result as OperationResult]);
  expect(JSON.parse(await readFile(path.join(directory, 'operations.json'), 'utf8'))).toEqual([]);
});

test('an operation that was received and not begun before a restart runs after it', async () => {
  await (await open()).receive([await ordered()]);
  expect(await run()).toMatchObject([{ operationId: 'op_1', outcome: 'succeeded' }]);
});

test('one that was cut off is not begun again: nobody knows its outcome', async () => {
  await dcgmi('exec sleep 30');
  const journal = await open();
  await journal.receive([await ordered()]);
  const runner = start(journal);
  await expect.poll(calls, patient).toBe(1);
  stop.abort();
  await runner.idle();
  expect(journal.untold()).toEqual([]);
  stop = new AbortController();
  const [result] = await run(await ordered());
  expect(result).toMatchObject({ outcome: 'unknown', error: { details: { reason: 'interrupted' } } });
  expect(await signed(result as OperationResult)).toMatchObject({ outcome: 'unknown' });
  expect(await calls()).toBe(1);
});

test('a cancelled operation ends at once, and the one that waits behind it does not begin', async () => {
  await dcgmi('exec sleep 30');
  const journal = await open();
  await journal.receive([await ordered(), await ordered({ operationId: 'op_2' })]);
  const runner = start(journal);
  await expect.poll(calls, patient).toBe(1);
  runner.cancel(['op_2', 'op_1', 'op_unknown']);
  await runner.idle();
  const cancelled = { outcome: 'failed', error: { details: { reason: 'cancelled' } } };
  expect(journal.untold()).toMatchObject([cancelled, cancelled]);
  expect(await calls()).toBe(1);
});

test('an operation whose time is over while it runs is given up', async () => {
  await dcgmi('exec sleep 30');
  const [result] = await run(await ordered({ expiresAt: new Date(Date.now() + 500).toISOString() }));
  expect(result).toMatchObject({ outcome: 'failed', error: { details: { reason: 'expired' } } });
});

test('a result is told until the centre has taken it, also after a restart', async () => {
  await run(await ordered());
  const reports: AgentReport[] = [];
  const parts = (journal: Journal, answer: () => Promise<void>) => ({
    client: {
      report: (report: AgentReport) => {
        reports.push(report);
        return answer();
      },
    },
    journal,
    progress: { take: () => [] },
    spec: { generation: () => 3 },
    news: createWake(),
    signal: stop.signal,
  });
  const away = () => Promise.reject(new Error('the centre is away'));
  await expect(reporting(parts(await open(), away))()).rejects.toThrow('away');
  const journal = await open();
  await reporting(parts(journal, async () => {}))();
  expect(reports).toMatchObject([
    { observedGeneration: 3, results: [{ operationId: 'op_1' }] },
    { results: [{ operationId: 'op_1', outcome: 'succeeded' }] },
  ]);
  expect(journal.untold()).toEqual([]);
  expect((await open()).untold()).toEqual([]);
});
