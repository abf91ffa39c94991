import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DebianPackage, download, realPackage, unpack } from '#base/debian.ts';

const cacheDirectory = path.resolve('.cache/debian');
const said: string[] = [];
const options = { cacheDirectory, progress: (line: string) => said.push(line) };
let packages: DebianPackage[];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'debian-'));
  packages = await download({ ...options, packages: ['busybox-static'] });
}, 120_000);

afterAll(() => rm(directory, { recursive: true, force: true }));

test('a downloaded package has the digest of the signed index', async () => {
  const [busybox] = packages;
  expect(busybox).toMatchObject({ name: 'busybox-static', architecture: 'amd64' });
  const digest = createHash('sha256').update(await readFile(busybox!.file));
  expect(digest.digest('hex')).toBe(busybox!.sha256);
});

test('what is in the cache is not downloaded again', async () => {
  said.length = 0;
  await download({ ...options, packages: ['busybox-static'] });
  expect(said).toEqual([]);
});

test('a damaged file in the cache is replaced', async () => {
  const own = { ...options, packages: ['hostname'] };
  const [before] = await download(own);
  await truncate(before!.file, 100);
  const [after] = await download(own);
  expect((await stat(after!.file)).size).toBeGreaterThan(100);
}, 60_000);

test('the archive unpacks without being installed', async () => {
  await unpack(packages[0]!.file, directory);
  expect((await stat(path.join(directory, 'usr/bin/busybox'))).size).toBeGreaterThan(500_000);
});

test('dependencies come along when asked for', async () => {
  const closure = await download({ ...options, packages: ['hostname'], withDependencies: true });
  expect(closure.map(({ name }) => name)).toContain('libc6');
}, 60_000);

test('the newest kernel is found behind its metapackage', async () => {
  expect(await realPackage('linux-image-amd64', /^linux-image-\d/, options)).toMatch(
    /^linux-image-6\.12\..*-amd64$/,
  );
});

test('a name that the suite does not have is an error with that name', async () => {
  await expect(download({ ...options, packages: ['no-such-package'] })).rejects.toThrow('no-such-package');
}, 60_000);
