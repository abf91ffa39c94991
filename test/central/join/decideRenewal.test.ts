import { expect, test } from 'vitest';
import { decideRenewal } from '#central/join/decideRenewal.ts';
import { renewalGraceMs } from '#contract/join.ts';

const agent = { counter: 3, renewal: 'the third', revoked_at: null };
const now = Date.parse('2026-12-01T00:00:00Z');
const at = new Date(now).toISOString();
const times = { expiresAt: now + 1, now };

test('the next counter renews', () => {
  expect(decideRenewal(agent, { counter: 4, nonce: 'the fourth', at }, times)).toEqual({ kind: 'renew' });
});

test('the same request once more is answered again: its answer was lost', () => {
  expect(decideRenewal(agent, { counter: 3, nonce: 'the third', at }, times)).toEqual({ kind: 'repeat' });
});

test.each([
  ['the last counter by another', 3, 'another'],
  ['an older counter', 2, 'the second'],
])('%s is a copied disk', (_, counter, nonce) => {
  expect(decideRenewal(agent, { counter, nonce, at }, times)).toEqual({ kind: 'copied' });
});

test('a counter that is ahead renews: the books were restored from a backup', () => {
  expect(decideRenewal(agent, { counter: 9, nonce: 'the ninth', at }, times)).toEqual({ kind: 'renew' });
});

test('a counter so far ahead that books cannot be that old is refused', () => {
  const far = { counter: 1e9, nonce: 'of nobody', at };
  expect(decideRenewal(agent, far, times)).toMatchObject({ kind: 'refuse', reason: 'proof' });
});

test.each([
  ['the next one', 4, 'the fourth', 'renew'],
  ['the last one, repeated', 3, 'the third', 'repeat'],
])('a certificate that has ended renews until the grace is over: %s', (_, counter, nonce, kind) => {
  const after = (ms: number) => {
    const signed = new Date(now + ms).toISOString();
    return decideRenewal(agent, { counter, nonce, at: signed }, { expiresAt: now, now: now + ms });
  };
  expect(after(renewalGraceMs - 1)).toEqual({ kind });
  expect(after(renewalGraceMs)).toMatchObject({ kind: 'refuse', reason: 'expired' });
});

test.each([
  ['an old one that somebody has found', -3_600_000],
  ['one of a clock that is far ahead', 3_600_000],
])('%s has nobody revoked and renews nothing', (_, offMs) => {
  const signed = { nonce: 'another', at: new Date(now + offMs).toISOString() };
  for (const counter of [2, 3, 4])
    expect(decideRenewal(agent, { counter, ...signed }, times)).toMatchObject({
      kind: 'refuse',
      reason: 'clock',
    });
  const untimed = { counter: 3, nonce: 'another', at: 'whenever' };
  expect(decideRenewal(agent, untimed, times)).toMatchObject({ reason: 'clock' });
});

test('who is revoked does not renew, whatever the counter', () => {
  const revoked = { ...agent, revoked_at: '2026-11-30T00:00:00.000Z' };
  for (const counter of [2, 3, 4])
    expect(decideRenewal(revoked, { counter, nonce: 'the third', at }, times)).toMatchObject({
      kind: 'refuse',
      reason: 'revoked',
    });
});
