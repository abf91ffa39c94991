import { expect, test } from 'vitest';
import { debFileName, dependencyMatching, parseRecords, parseSimulation } from '#base/debian/packages.ts';

const sha256 = '5'.repeat(64);
const show = `Package: busybox-static
Version: 1:1.37.0-6
Architecture: amd64
Depends: linux-image-6.12.1-amd64 (= 6.12.1-1), libc6 | libc6-udeb
Size: 1024
SHA256: ${sha256}
Description: tiny utilities
 Version: not a field, a description

Package: virtual
Version: 1
`;

test('reads the fields of a record and leaves out one that cannot be downloaded', () => {
  expect(parseRecords(show)).toEqual([
    {
      name: 'busybox-static',
      version: '1:1.37.0-6',
      architecture: 'amd64',
      sha256,
      sizeBytes: 1024,
      depends: 'linux-image-6.12.1-amd64 (= 6.12.1-1), libc6 | libc6-udeb',
    },
  ]);
});

test('a file name escapes the epoch as apt does', () => {
  expect(debFileName(parseRecords(show)[0]!)).toBe('busybox-static_1%3a1.37.0-6_amd64.deb');
});

test('names the real package behind a metapackage', () => {
  const { depends } = parseRecords(show)[0]!;
  expect(dependencyMatching(depends, /^linux-image-\d/)).toBe('linux-image-6.12.1-amd64');
  expect(dependencyMatching(depends, /^libc6-udeb$/)).toBe('libc6-udeb');
  expect(dependencyMatching(depends, /^grub/)).toBeUndefined();
});

test('reads what a simulated installation would bring', () => {
  const text = [
    'Reading package lists...',
    'Inst libc6 (2.41-12 Debian:13.2/stable, Debian-Security:13/stable-security [amd64])',
    'Inst zlib1g [1.2] (1:1.3-1 Debian:13.2/stable [amd64]) []',
    'Conf libc6 (2.41-12 Debian:13.2/stable [amd64])',
  ].join('\n');
  expect(parseSimulation(text)).toEqual(['libc6=2.41-12', 'zlib1g=1:1.3-1']);
});
