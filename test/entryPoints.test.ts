import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
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

test.each([
  ['bin/railhead', 2],
  ['bin/bcd', 1],
])('%s refuses a command that it does not know', (program, expected) => {
  const { status, stderr } = start(program, ['no-such-command']);
  expect(status).toBe(expected);
  expect(stderr).toContain("unknown command 'no-such-command'");
});

test.each([
  ['test/e2e/run.ts', '--list', 'uefi'],
  ['test/bench/run.ts', '--list', 'serve'],
  ['rack/demo/main.ts', '--help', 'npm run demo'],
])('%s starts with the Node of the lock file', (entry, flag, word) => {
  const { status, stdout, stderr } = start('setup/node', [entry, flag]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain(word);
});

/** What a program imports later, when a mode or a command is asked for, is not seen by its start. */
test('Node can strip the types of every file', () => {
  const refused = globSync(
    '{agent,base,bootserver,cache,central,cli,contract,ipxe,rack,ramdisk,redfish,test}/**/*.ts',
  ).filter((file) => !canStrip(readFileSync(file, 'utf8')));
  expect(refused).toEqual([]);
});

function canStrip(source: string): boolean {
  try {
    return stripTypeScriptTypes(source, { mode: 'strip' }) !== undefined;
  } catch {
    return false;
  }
}
