import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CommandFailed, run } from '#base/command.ts';
import { version } from '#base/version.ts';
import { bcdJoinArgv, bcdNodeArgv } from '#central/userData/argv.ts';

const launcher = path.join(import.meta.dirname, '../../bin/bcd');
const failure = (args: string[]): Promise<CommandFailed> =>
  run(launcher, args).then(
    () => Promise.reject(new Error('it succeeded')),
    (error) => error,
  );

async function configFile(text: string): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-bcd-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = path.join(directory, 'config.toml');
  await writeFile(file, text);
  return file;
}

const valid = `
[provisioning]
interface = "prov"
address = "10.77.0.1"
poolStart = "10.77.0.100"
poolEnd = "10.77.0.200"
`;

test('bcd runs on Node 26 whatever node is on PATH, and says its version', async () => {
  expect(await run(launcher, ['--version'])).toMatch(new RegExp(`^${RegExp.escape(version)} \\(Node 26\\.`));
});

test('bcd site --check accepts a valid configuration', async () => {
  const file = await configFile(valid);
  expect(await run(launcher, ['site', '--config', file, '--check'])).toBe(`${file}: valid\n`);
});

test('bcd site --check names the field that is wrong', async () => {
  const file = await configFile(valid.replace(/^poolEnd.*$/m, ''));
  const { status, stderr } = await failure(['site', '--config', file, '--check']);
  expect(status).toBe(1);
  expect(stderr).toContain('INVALID_CONFIG: provisioning.poolEnd: is required');
});

test('bcd site says that it has not joined', async () => {
  const state = path.dirname(await configFile(''));
  const file = await configFile(`stateDirectory = "${state}"\n${valid}`);
  const { stderr } = await failure(['site', '--config', file]);
  expect(stderr).toContain("this site has not joined: run 'bcd join' first");
});

test('bcd join takes the flags that the first-boot templates write', async () => {
  const { stderr } = await failure([
    'join',
    '--server',
    'https://127.0.0.1:1',
    '--token-file',
    '/nonexistent/token',
  ]);
  expect(stderr).toContain("required option '--node-id <id>' not specified");
});

const pin = `sha256/${'A'.repeat(43)}=`;
const pins = { servingCaPin: pin, joinSigningPin: pin, joinEncryptionPin: pin };
const joinOf = { controlPlaneUrl: 'https://127.0.0.1:1', nodeId: 'node-1' };

test('bcd takes exactly the argv of bcdJoinArgv, with all three pins', async () => {
  const [program, ...args] = bcdJoinArgv({ ...joinOf, ...pins });
  expect(program).toBe('/usr/local/bin/bcd');
  const { stderr } = await failure(args);
  expect(stderr).toContain('there is no token in /etc/bcd/join-token');
});

test.each(['servingCaPin', 'joinSigningPin', 'joinEncryptionPin'] as const)(
  'bcd refuses to bootstrap without %s',
  async (name) => {
    const [, ...args] = bcdJoinArgv({ ...joinOf, ...pins });
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    args.splice(args.indexOf(flag), 2);
    expect((await failure(args)).stderr).toContain(`required option '${flag}`);
  },
);

test('bcd takes exactly the argv of bcdNodeArgv', async () => {
  const [program, ...args] = bcdNodeArgv();
  expect(program).toBe('/usr/local/bin/bcd');
  expect((await failure(args)).stderr).toContain('INVALID_STATE: this node has not joined');
});
