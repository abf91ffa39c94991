import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { architectures, bootFile } from '#ipxe/bootFiles.ts';
import { type IpxeManifest, ipxePackage, untriedFiles } from '#ipxe/debianPackage.ts';

const tried = JSON.parse(readFileSync('ipxe/known.json', 'utf8')) as IpxeManifest;

test('every boot file of the table is fetched, and its digest is written down', () => {
  const named = [...architectures.values()].map(bootFile).filter((file) => file !== undefined);
  expect([...new Set(named)].toSorted()).toEqual([...ipxePackage.files].toSorted());
  expect(Object.keys(tried.files).toSorted()).toEqual([...ipxePackage.files].toSorted());
});

test('what was tried is no news; another digest is', () => {
  expect(untriedFiles(tried, tried)).toEqual([]);
  const newer = { version: '2', files: { ...tried.files, 'snponly.efi': '00'.repeat(32) } };
  expect(untriedFiles(newer, tried)).toEqual(['snponly.efi']);
});
