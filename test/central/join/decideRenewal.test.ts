import { expect, test } from 'vitest';
import { decideRenewal } from '#central/join/decideRenewal.ts';
import { renewalGraceMs } from '#central/join/lifetimes.ts';

const agent = { counter: 3, renewal: 'the third', revoked_at: null };
const now = Date.parse('2026-12-01T00:00:00Z');
const times = { expiresAt: now + 1, now };

test('the next counter renews', () => {
  expect(decideRenewal(agent, { counter: 4, nonce: 'the fourth' }, times)).toEqual({ kind: 'renew' });
});

test('the same request once more is answered again: its answer was lost', () => {
  expect(decideRenewal(agent, { counter: 3, nonce: 'the third' }, times)).toEqual({ kind: 'repeat' });
});

test.each([
  ['the last counter by another', 3, 'another'],
  ['an older counter', 2, 'the second'],
])('%s is a copied disk', (_, counter, nonce) => {
  expect(decideRenewal(agent, { counter, nonce }, times)).toEqual({ kind: 'copied' });
});

test('a counter that is ahead renews: the books were restored from a backup', () => {
  expect(decideRenewal(agent, { counter: 9, nonce: 'the ninth' }, times)).toEqual({ kind: 'renew' });
});

test('a certificate that has ended renews until the grace is over', () => {
  const renewal = { counter: 4, nonce: 'the fourth' };
  const after = (ms: number) => decideRenewal(agent, renewal, { expiresAt: now, now: now + ms });
  expect(after(renewalGraceMs - 1)).toEqual({ kind: 'renew' });
  expect(after(renewalGraceMs)).toMatchObject({ kind: 'refuse', reason: 'expired' });
});

test('who is revoked does not renew, whatever the counter', () => {
  const revoked = { ...agent, revoked_at: '2026-11-30T00:00:00.000Z' };
  for (const counter of [2, 3, 4])
    expect(decideRenewal(revoked, { counter, nonce: 'the third' }, times)).toMatchObject({
      kind: 'refuse',
      reason: 'revoked',
    });
});
