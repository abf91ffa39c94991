import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { setUpTool } from './toolBench.ts';

/** How ipmitool is run, and what never reaches it. */

/** One that has ended and that nobody has asked for yet is not. */
function isRunning(pid: number): boolean {
  const status = `/proc/${pid}/status`;
  return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, 'utf8'));
}

test('what a hanging program has started ends with it, and holds nobody up', async () => {
  const { client } = await setUpTool([{ when: '*', does: 'sleep 30 & echo "started $!"; wait' }]);
  const began = performance.now();
  const { stdout, failure } = await client.attempt(['chassis', 'status'], { timeoutMs: 300 });
  expect(failure?.kind).toBe('timeout');
  expect(performance.now() - began).toBeLessThan(5000);
  const child = Number(/started (\d+)/.exec(stdout)?.[1]);
  await expect.poll(() => isRunning(child)).toBe(false);
});

test.each([
  ['a\nb', 'admin', 'credential-characters'],
  ['', 'admin', 'password-length'],
  ['secret', 'a name that is too long', 'username-length'],
  ['secret', 'ad\u0000min', 'credential-characters'],
])('password %j of user %j is refused before anything is sent', async (password, username, reason) => {
  const { client, commands } = await setUpTool([{ when: '*', does: 'exit 0' }], { password, username });
  await expect(client.run(['chassis', 'status'])).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { reason },
  });
  expect(await commands()).toEqual([]);
});

test('a user whose name looks like an option is a user', async () => {
  const { client } = await setUpTool([{ when: '*', does: 'tr "\\\\0" "\\\\n" </proc/$$/cmdline; exit 0' }], {
    username: '-h',
  });
  const words = (await client.run(['chassis', 'status'])).split('\n');
  expect(words[words.indexOf('-U') + 1]).toBe('-h');
});
