import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/** vitest transforms syntax that Node's type stripping refuses: only a start with the real Node shows that a program can start. */
const root = path.resolve(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };

function start(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
) {
  const { status, stdout, stderr } = spawnSync(path.join(root, program), args, {
    cwd: '/',
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test.each(['bin/railhead', 'bin/bcd'])('%s starts with the Node of the lock file', (program) => {
  const { status, stdout, stderr } = start(program, ['--version']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(new RegExp(`^${manifest.version.replaceAll('.', '\\.')} \\(Node 26\\.`));
});

test.each(['bin/railhead', 'bin/bcd'])('%s refuses a command that it does not know', (program) => {
  const { status, stderr } = start(program, ['no-such-command']);
  expect(status).toBe(1);
  expect(stderr).toContain("unknown command 'no-such-command'");
});

test.each(['test/e2e/run.ts'])('%s starts with the Node of the lock file', (entry) => {
  const { status, stdout, stderr } = start('setup/node', [entry, '--list']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('uefi');
});
