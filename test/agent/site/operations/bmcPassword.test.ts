import { expect, test } from 'vitest';
import type { ActionContext } from '#agent/site/operations/action.ts';
import { readAccount, setPassword } from '#agent/site/operations/bmcPassword.ts';

const secret = { secretId: 'sec_next', version: 1 };

/** What the site does, in order, with a BMC of these methods. */
function setUp(bmc: object) {
  const done: unknown[] = [];
  const context = {
    secretText: async (asked: unknown) => {
      done.push({ kept: asked });
      return 'admin:Next-Marker-2345';
    },
    withBmc: (work: (driver: object, limits: object) => unknown) => work(bmc, {}),
  };
  return { done, context: context as unknown as ActionContext };
}

test('the new password is on the disk before the BMC gets it, and no result tells it', async () => {
  const { done, context } = setUp({ setPassword: async (login: object) => void done.push({ given: login }) });
  expect(await setPassword.run({ secret }, context)).toEqual({ secretId: 'sec_next' });
  expect(done).toEqual([{ kept: secret }, { given: { username: 'admin', password: 'Next-Marker-2345' } }]);
});

test('what fails at the BMC fails so, and is begun again after a crash', async () => {
  const { context } = setUp({ setPassword: async () => Promise.reject(new Error('unreachable')) });
  await expect(setPassword.run({ secret }, context)).rejects.toThrow('unreachable');
  expect(await setPassword.settle({ secret }, context, 0)).toEqual({ kind: 'repeat' });
});

test('whom the BMC takes is told as the driver tells it', async () => {
  const account = { username: 'admin', works: 'next', maxLength: 16 };
  const { context } = setUp({ readAccount: async () => account });
  expect(await readAccount.run({}, context)).toEqual(account);
});

test('what drives a machine without a BMC has no password', async () => {
  const { context } = setUp({});
  const none = { code: 'UNSUPPORTED', details: { reason: 'no-password' } };
  await expect(setPassword.run({ secret }, context)).rejects.toMatchObject(none);
  await expect(readAccount.run({}, context)).rejects.toMatchObject(none);
});
