import { expect, test } from 'vitest';
import { byTheRightLogin } from '#agent/site/console/rightLogin.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Credentials } from '#contract/secrets.ts';

const before = { username: 'admin', password: 'before' };
const next = { username: 'admin', password: 'next', id: 'sec_next' };

/** A BMC that takes one password, and notes which it was shown. */
function takes(password: string, reason = 'credentials-refused') {
  const shown: Credentials[] = [];
  const open = async (login: Credentials) => {
    shown.push(login);
    if (login.password !== password) throw new RailheadError('DRIVER_ERROR', 'no', { reason });
    return 'a session';
  };
  return { shown, open };
}

test.each([
  ['before', 1],
  ['next', 2],
])('while two passwords may be right the one that is (%s) opens', async (password, tries) => {
  const { shown, open } = takes(password);
  expect(await byTheRightLogin({ ...before, next }, open)).toBe('a session');
  expect(shown).toHaveLength(tries);
  expect(JSON.stringify(shown)).not.toContain('sec_next');
});

test('nothing else is a reason to show the other one, and there may be none', async () => {
  const away = takes('next', 'unreachable');
  await expect(byTheRightLogin({ ...before, next }, away.open)).rejects.toThrow('no');
  expect(away.shown).toHaveLength(1);
  await expect(byTheRightLogin(before, takes('next').open)).rejects.toThrow('no');
});
