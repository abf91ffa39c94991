import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '#base/command.ts';
import { buildPackage } from '#library/package/build.ts';
import { asModule, readSample } from './samples.ts';

const checkout = path.resolve('node_modules');
/** An empty folder of a consumer, with nothing but the package and the packages that it says it depends on. */
let consumer: string;

beforeAll(async () => {
  consumer = await mkdtemp(path.join(os.tmpdir(), 'railhead-consumer-'));
  const installed = path.join(consumer, 'node_modules/railhead');
  await mkdir(installed, { recursive: true });
  const tarball = await buildPackage(path.join(consumer, 'built'));
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  const { dependencies } = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) await linkPackage(path.join(checkout, name), name);
  // The name that the specification's samples import by: they run as they are.
  await linkPackage(installed, 'better-compute');
  await linkPackage(path.join(checkout, '@types/node'), '@types/node');
  await linkPackage(path.join(checkout, 'undici-types'), 'undici-types');
  await cp(path.join(import.meta.dirname, 'consumer'), consumer, { recursive: true });
  await writeFile(path.join(consumer, 'ubuntu-gpu-host.ts'), await readSample('ubuntu-gpu-host'));
  const register = (await readSample('register-image')).replace('<64 hex digits>', 'ab'.repeat(32));
  const given = ['compute', 'credential', 'signingKey'];
  await writeFile(path.join(consumer, 'register-image.ts'), asModule(register, given, 'better-compute'));
}, 180_000);
afterAll(() => rm(consumer, { recursive: true, force: true }));

async function linkPackage(target: string, name: string): Promise<void> {
  const link = path.join(consumer, 'node_modules', name);
  await mkdir(path.dirname(link), { recursive: true });
  await symlink(target, link);
}

test('the package runs from an empty folder, and the samples of the specification with it', async () => {
  const output = await run(process.execPath, [path.join(consumer, 'main.mts')], {
    cwd: consumer,
    timeoutMs: 60_000,
  });
  expect(JSON.parse(output)).toEqual({
    profile: 'ubuntu-24.04-gpu-host@1 of builtin',
    image: 'ubuntu-24.04-server@2026.09 verified',
    refusal: 'INVALID_INPUT version',
    argv: '/usr/local/bin/bcd join --server https://cp.example.com --token-file /etc/bcd/join-token --node-id node_1',
  });
});

test("the package's types hold for a consumer, and refuse what is wrong", async () => {
  await run('tsc', ['--project', consumer], { cwd: consumer });
  const main = path.join(consumer, 'main.mts');
  const text = await readFile(main, 'utf8');
  await writeFile(main, text.replace("nodeId: 'node_1'", 'nodeId: 1'));
  await expect(run('tsc', ['--project', consumer], { cwd: consumer })).rejects.toMatchObject({ status: 1 });
});
