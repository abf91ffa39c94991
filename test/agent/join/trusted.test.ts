import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { KeptIdentity } from '#agent/join/keptIdentity.ts';
import { isRenewalDue } from '#agent/join/renewing.ts';
import { keepRevocations, type Revocations } from '#agent/join/revocations.ts';
import { trustExchange } from '#agent/join/trustExchange.ts';
import { signDocument } from '#base/jws.ts';
import { silentLog } from '#base/log.ts';
import { issueServer, newAuthority, openAuthority, succeedingAuthority } from '#central/join/authority.ts';

const centre = generateKeyPairSync('ed25519');
const kept = { signingKeys: () => [centre.publicKey] };
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'railhead-trusted-'));
  onTestFinished(() => rm(directory, { recursive: true }));
});

function revoked(number: number, subjects: readonly string[], key = centre.privateKey): Promise<string> {
  const at = new Date().toISOString();
  const entries = subjects.map((subject) => ({
    kind: 'certificate',
    subject,
    identity: 'urn:railhead:site:a',
    at,
  }));
  return signDocument('railhead-revocations', { number, issuedAt: at, expiresAt: at, revoked: entries }, key);
}

test('the list of the revoked is kept on disk, and an older one does not replace it', async () => {
  const first = await keepRevocations(directory, kept);
  expect(first.number()).toBe(0);
  await first.take(await revoked(2, ['ab', 'cd']));
  await first.take(await revoked(1, []));
  const later = await keepRevocations(directory, kept);
  expect(later.number()).toBe(2);
  expect(['ab', 'cd', 'ef'].map((serial) => later.isRevoked('certificate', serial))).toEqual([
    true,
    true,
    false,
  ]);
  expect(later.isRevoked('machine-key', 'ab')).toBe(false);
});

/** The exchange of an agent whose list of keys is the first. */
function exchangeOf(revocations: Revocations) {
  const current = { trustNumber: 1, trust: [] };
  return trustExchange({ ...kept, current } as unknown as KeptIdentity, revocations, silentLog());
}

test('a list that another signed is not taken, and not asked for again for a while', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const revocations = await keepRevocations(directory, kept);
  const exchange = exchangeOf(revocations);
  expect(exchange.known()).toEqual({ trustNumber: 1, revocationsNumber: 0 });
  await exchange.take({ revocations: await revoked(7, ['ab'], generateKeyPairSync('ed25519').privateKey) });
  expect(revocations.isRevoked('certificate', 'ab')).toBe(false);
  expect(exchange.known()).toEqual({ trustNumber: 1 });
  vi.advanceTimersByTime(10 * 60_000);
  expect(exchange.known()).toEqual({ trustNumber: 1, revocationsNumber: 0 });
  await exchange.take({ revocations: await revoked(7, ['ab']) });
  expect(revocations.isRevoked('certificate', 'ab')).toBe(true);
});

test('a list that could not be written is asked for again, at once and then more slowly', async () => {
  const revocations = await keepRevocations(directory, kept);
  const exchange = exchangeOf(revocations);
  await exchange.take({ revocations: await revoked(1, []) });
  await rm(directory, { recursive: true });
  const newer = { revocations: await revoked(2, ['ab']) };
  await exchange.take(newer);
  expect(exchange.known()).toEqual({ trustNumber: 1, revocationsNumber: 1 });
  await exchange.take(newer);
  expect(exchange.known()).toEqual({ trustNumber: 1 });
  await mkdir(directory);
  await exchange.take(newer);
  expect(revocations.isRevoked('certificate', 'ab')).toBe(true);
  expect(exchange.known()).toEqual({ trustNumber: 1, revocationsNumber: 2 });
});

test('a certificate is renewed from half of its life on, or when an older CA issued it', async () => {
  const former = openAuthority(await newAuthority());
  const newer = openAuthority(await succeedingAuthority(former));
  const dayMs = 24 * 3_600_000;
  const { certificate } = await issueServer(former, { uri: 'urn:railhead:site:a', validMs: 30 * dayMs });
  const due = (days: number, ca: string, jitter = 0) =>
    isRenewalDue({ certificate, ca }, Date.now() + days * dayMs, jitter);
  const { certificate: ca } = former;
  expect([due(1, ca), due(14, ca), due(15, ca), due(45, ca)]).toEqual([false, false, true, true]);
  expect([due(11, ca, 1), due(12, ca, 1)]).toEqual([false, true]);
  expect(due(1, `${newer.certificate}${ca}`)).toBe(true);
});
