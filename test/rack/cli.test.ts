import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rackCommand } from '#cli/rack.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'rack-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** Runs `railhead rack …` on an empty directory. */
function rack(...args: string[]): Promise<unknown> {
  const command = rackCommand();
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeErr: () => {} });
  const [name = '', ...rest] = args;
  return command.parseAsync([name, '--directory', directory, ...rest], { from: 'user' });
}

test('has the five commands', () => {
  const names = rackCommand().commands.map((command) => command.name());
  expect(names).toEqual(['up', 'down', 'status', 'power', 'console']);
});

test.each([['status'], ['power', 'a', 'on'], ['console', 'a'], ['console', 'a', '--log']])(
  '%s says that there is no rack',
  async (...args) => {
    await expect(rack(...args)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('railhead rack up'),
    });
  },
);

test('a machine that makes no sense is refused before anything is built', async () => {
  await expect(rack('up', '--machine', 'a:efi')).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: 'machines[0].firmware' },
  });
});

test('a specification that cannot be read is named', async () => {
  await expect(rack('up', '--spec', '/nonexistent.json')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: { path: '/nonexistent.json' },
  });
});

test('a word for power that is not known is refused with those that are', async () => {
  await expect(rack('power', 'a', 'fly')).rejects.toMatchObject({
    message: expect.stringContaining('graceful-off'),
  });
});
