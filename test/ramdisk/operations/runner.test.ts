import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { steadyClock } from '#base/clock.ts';
import { publicKeyFromJwk, signDocument, verifyDocument } from '#base/jws.ts';
import type { OperationResult } from '#contract/operations.ts';
import { keysOfThisBoot } from '#ramdisk/join/keys.ts';
import { openJournal } from '#ramdisk/operations/journal.ts';
import { type RunnerParts, runOperations } from '#ramdisk/operations/runner.ts';
import { connectSite } from '#ramdisk/site/client.ts';
import { openSession } from '#ramdisk/site/session.ts';
import type { StepContext } from '#ramdisk/steps/index.ts';
import { type FakeSite, fakeSite, nodeId } from '../fakes/site.ts';

let site: FakeSite;
let directory: string;
const agents: { stop: () => Promise<void> }[] = [];

beforeEach(async () => {
  site = await fakeSite();
  directory = await mkdtemp(path.join(tmpdir(), 'railhead-agent-'));
});

afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.stop();
  await site.close();
  await rm(directory, { recursive: true });
});

type RunStep = RunnerParts['runStep'];

/** An agent whose steps do what the test says, for none of the real ones may touch the machine that tests. */
async function startAgent(runStep: RunStep): Promise<{ said: string[]; stop: () => Promise<void> }> {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const stopping = new AbortController();
  const { signal } = stopping;
  const client = connectSite(site.url, site.ca.pem);
  const keys = await keysOfThisBoot(directory);
  const facts = { bootId: 'boot', macs: [], trust: 'network' as const };
  const trust = { ca: site.ca.pem, signingKeys: [site.signingKey], trustNumber: 1, centre: {} };
  const session = await openSession({
    client,
    keys,
    trust,
    facts,
    mac: '52:54:00:00:00:01',
    keepTime: async () => {},
    token: async () => 'tok',
    say,
    signal,
  });
  const journal = await openJournal(directory);
  const running = runOperations({ session, trust, keys, journal, say, signal, runStep }).catch(() => {});
  const agent = {
    said,
    stop: async () => {
      stopping.abort(new Error('stopped'));
      await running;
      await client.close();
    },
  };
  agents.push(agent);
  return agent;
}

const done: RunStep = async () => ({ result: { done: true } });

test('an operation is carried out and its result signed with the key of the join', async () => {
  await startAgent(done);
  const id = await site.order({});
  const { jws, ...result } = await site.resultOf(id);
  expect(result).toMatchObject({ operationId: id, outcome: 'succeeded', result: { done: true } });
  const signingKey = publicKeyFromJwk(site.joins[0]?.signingKey ?? {});
  expect(await verifyDocument('railhead-result', jws ?? '', signingKey)).toEqual(result);
});

test.each([
  ['another node', { nodeId: 'node_other' }, 'FORBIDDEN', 'node'],
  ['the site', { target: 'site' as const }, 'FORBIDDEN', 'target'],
  ['another boot of this node', { machine: 'thumbprint of other keys' }, 'FORBIDDEN', 'machine'],
  ['an expired time', { expiresAt: '2020-01-01T00:00:00Z' }, 'FORBIDDEN', 'expired'],
  ['an unknown action', { action: 'disk.polish' }, 'UNSUPPORTED', undefined],
  ["a site's action", { action: 'power.setPower' }, 'UNSUPPORTED', undefined],
  ['a wrong input', { action: 'deploy.image', input: { ref: 'os@1' } }, 'INVALID_INPUT', undefined],
])('an operation for %s is refused and not begun', async (_, operation, code, reason) => {
  let begun = 0;
  await startAgent(async () => {
    begun += 1;
    return { result: {} };
  });
  const { outcome, error } = await site.resultOf(await site.order(operation));
  expect({ outcome, code: error?.code, reason: error?.details?.reason, begun }).toEqual({
    outcome: 'failed',
    code,
    reason,
    begun: 0,
  });
});

test('an operation that another key signed is refused', async () => {
  await startAgent(done);
  const { privateKey } = generateKeyPairSync('ed25519');
  const id = await site.order({});
  await site.resultOf(id);
  site.signingKey = privateKey;
  const forged = await signDocument('railhead-operation', { operationId: 'op_forged', nodeId }, privateKey);
  const { verifyOperation } = await import('#ramdisk/operations/verify.ts');
  const expected = {
    target: 'ramdisk' as const,
    signingKeys: [generateKeyPairSync('ed25519').publicKey],
    nodeId,
    machine: '',
    operationId: 'op_forged',
  };
  await expect(verifyOperation(forged, expected)).rejects.toMatchObject({ details: { reason: 'signature' } });
});

test('an id is used once: a second delivery does not begin it again', async () => {
  let begun = 0;
  await startAgent(async () => {
    begun += 1;
    return { result: {} };
  });
  const id = await site.order({ operationId: 'op_once' });
  await site.resultOf(id);
  await site.order({ operationId: 'op_once' });
  await site.resultOf(await site.order({}));
  expect(begun).toBe(2);
});

test('a site that restarts and forgets the session is joined again with the same keys; the running step goes on', async () => {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  await startAgent(async () => {
    await finished;
    return { result: {} };
  });
  const id = await site.order({});
  await site.restart(50);
  finish();
  expect(await site.resultOf(id)).toMatchObject({ outcome: 'succeeded' });
  expect(new Set(site.joins.map(({ signingKey }) => signingKey.x)).size).toBe(1);
  expect(site.joins.length).toBeGreaterThanOrEqual(2);
});

test('a report that the site does not take is sent until it does, and only then the step goes on', async () => {
  const order: string[] = [];
  await startAgent(async () => ({
    result: {},
    afterwards: async () => void order.push(`afterwards with ${site.results.length} result taken`),
  }));
  site.failNext('/v1/machine/report', 2);
  const id = await site.order({});
  await site.resultOf(id);
  await expect.poll(() => order).toEqual(['afterwards with 1 result taken']);
});

test('a step that fails with a foreign error tells no more than INTERNAL', async () => {
  const agent = await startAgent(async () => {
    throw new TypeError('secret path');
  });
  const { error } = await site.resultOf(await site.order({}));
  expect(error?.code).toBe('INTERNAL');
  expect(JSON.stringify(error)).not.toContain('secret');
  expect(agent.said.join()).toContain('secret path');
});

test('a cancelled operation ends as failed, with the reason', async () => {
  let begun = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  await startAgent(async (_, { signal }) => {
    begun();
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    return { result: {} };
  });
  const id = await site.order({});
  await running;
  site.cancel(id);
  const { outcome, error } = await site.resultOf(id);
  expect({ outcome, reason: error?.details?.reason }).toEqual({ outcome: 'failed', reason: 'cancelled' });
});

test('progress is reported at least every second while a step runs', async () => {
  await startAgent(async (_, context: StepContext) => {
    context.progress('writing', 10, 100);
    await new Promise((resolve) => setTimeout(resolve, 1300));
    return { result: {} };
  });
  await site.resultOf(await site.order({}));
  expect(site.progress.length).toBeGreaterThanOrEqual(2);
  expect(site.progress.at(-1)).toMatchObject({ phase: 'writing', doneBytes: 10, totalBytes: 100 });
});

test('an agent that was killed within an operation runs it from the start, past its expiry', async () => {
  const expiresAt = new Date(Date.now() - 1).toISOString();
  const journal = await openJournal(directory);
  await journal.begin('op_interrupted');
  await startAgent(done);
  const id = await site.order({ operationId: 'op_interrupted', expiresAt });
  expect(await site.resultOf(id)).toMatchObject({ outcome: 'succeeded' });
});

test('an agent that was killed before its result was taken reports it and does not act again', async () => {
  const result: OperationResult = {
    operationId: 'op_ended',
    outcome: 'succeeded',
    finishedAt: '2026-01-01T00:00:00Z',
  };
  const journal = await openJournal(directory);
  await journal.begin('op_ended');
  await journal.end(result);
  await site.order({ operationId: 'op_ended' });
  await startAgent(async () => expect.unreachable('it ended before'));
  expect(await site.resultOf('op_ended')).toEqual(result);
});

test("a step's deadline is counted from its begin, not by a clock that may be set meanwhile", async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2070-01-01T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  let leftMs = 0;
  await startAgent(async (_, { deadline }) => {
    leftMs = deadline - steadyClock.now();
    return { result: {} };
  });
  await site.resultOf(await site.order({ expiresAt: new Date(Date.now() + 60_000).toISOString() }));
  expect(leftMs).toBeGreaterThan(50_000);
  expect(leftMs).toBeLessThanOrEqual(55_000);
});

test('the keys stay those of the boot, readable by root alone', async () => {
  const [first, second] = [await keysOfThisBoot(directory), await keysOfThisBoot(directory)];
  expect(second.signing.equals(first.signing)).toBe(true);
  const { mode } = await import('node:fs').then(({ statSync }) =>
    statSync(path.join(directory, 'keys.json')),
  );
  expect(mode & 0o777).toBe(0o600);
  expect(await readFile(path.join(directory, 'keys.json'), 'utf8')).toContain('PRIVATE KEY');
});
