import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildExecutable, type Executable } from '#agent/executable/build.ts';
import { run } from '#base/command.ts';
import { version } from '#base/version.ts';

let bcd: Executable;
let directory: string;
/** A copy outside the project, whose node_modules must not be what makes it work. */
let alone: string;
let temporary: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'executable-'));
  bcd = await buildExecutable();
  alone = path.join(directory, 'bcd');
  temporary = path.join(directory, 'temporary');
  await mkdir(temporary);
  await copyFile(bcd.file, alone);
}, 180_000);

afterAll(() => rm(directory, { recursive: true, force: true }));

/** EM_AARCH64 (ELF for the Arm 64-bit Architecture). */
const elfMachineAarch64 = 183;

const node = path.resolve(`node_modules/node-linux-${process.arch}/bin/node`);

test('the one file starts by itself and says its version and Node’s', async () => {
  const ownNode = (await run(node, ['--version'])).trim();
  expect(await run(alone, ['--version'])).toBe(`${version} (Node ${ownNode.slice(1)})\n`);
});

test('the native modules inside it work, and the thread of the leases: SQLite, zstd and libc', async () => {
  const seen = JSON.parse(await run(alone, ['self-test'], { env: { TMPDIR: temporary } }));
  expect(seen).toMatchObject({
    sqlite: expect.stringMatching(/^3\./),
    zstd: 'railhead',
    libc: true,
    leases: true,
    ssh: true,
  });
});

test('nothing is left where the native modules were unpacked', async () => {
  await run(alone, ['self-test'], { env: { TMPDIR: temporary } });
  expect(await readdir(temporary)).toEqual([]);
});

test('where the temporary directory cannot be used the modules load from another', async () => {
  const env = { TMPDIR: path.join(directory, 'missing') };
  expect(JSON.parse(await run(alone, ['self-test'], { env }))).toMatchObject({ libc: true });
});

test('the code cache inside is accepted: nothing is said on standard error', async () => {
  const said = await run('sh', ['-c', `'${alone}' --version 2>&1 >/dev/null`]);
  expect(said).toBe('');
});

test('the same inputs give the same bytes in another directory', async () => {
  const again = await buildExecutable({
    cacheDirectory: path.join(directory, 'cache'),
    debianCache: '.cache/debian',
  });
  expect(again.digest).toBe(bcd.digest);
  expect(again.file).not.toBe(bcd.file);
}, 120_000);

/** Fetches Node for arm64 and a cross compiler, 120 MB, the first time: RAILHEAD_SLOW=1 vitest run test/agent/executable */
test.runIf(process.env.RAILHEAD_SLOW && process.arch === 'x64')(
  'for aarch64 it is a program of that architecture, the same bytes each time',
  async () => {
    const arm = await buildExecutable({ architecture: 'aarch64' });
    const header = (await readFile(arm.file)).subarray(0, 20);
    expect(header.toString('latin1', 0, 5)).toBe('\x7fELF\x02');
    expect(header.readUInt16LE(18)).toBe(elfMachineAarch64);
    const again = await buildExecutable({
      architecture: 'aarch64',
      cacheDirectory: path.join(directory, 'other'),
      debianCache: '.cache/debian',
    });
    expect(again.digest).toBe(arm.digest);
  },
  300_000,
);

test('what was built once is not built again', async () => {
  const before = await stat(bcd.file);
  const said: string[] = [];
  await buildExecutable({ progress: (line) => said.push(line) });
  expect(said).toEqual([]);
  expect((await stat(bcd.file)).mtimeMs).toBe(before.mtimeMs);
});
