import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadBinaries } from '#bootserver/ipxeBinaries.ts';
import { ensureIpxe, readManifest } from '#bootserver/ipxePackage.ts';
import { ipxePackage } from '#ipxe/debianPackage.ts';

test('the binaries of Debian’s package are brought once, with their digests', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'ipxe-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const manifest = await ensureIpxe({ directory, cacheDirectory: '.cache/debian' });
  expect(await readManifest(directory)).toEqual(manifest);
  expect((await readdir(directory)).toSorted()).toEqual([...ipxePackage.files, 'manifest.json'].toSorted());
  const snponly = await readFile(path.join(directory, 'snponly.efi'));
  expect(manifest.files['snponly.efi']).toBe(createHash('sha256').update(snponly).digest('hex'));
  expect([...(await loadBinaries(directory)).keys()].toSorted()).toEqual([...ipxePackage.files]);
  expect(await ensureIpxe({ directory, cacheDirectory: '/nowhere' })).toEqual(manifest);
}, 60_000);

test('a folder that nothing was fetched into has no manifest', async () => {
  expect(await readManifest('/nowhere')).toBeUndefined();
});
