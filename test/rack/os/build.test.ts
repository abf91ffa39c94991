import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { peSections, sectionData } from '#base/pe.ts';
import { hasCode } from '#contract/errors.ts';
import { buildOs, type OsImage } from '#rack/os/build.ts';
import { inputKey } from '#rack/os/inputs.ts';

test.each([
  ['ref', { ref: 'two words' }],
  ['ref', { ref: 'quote"' }],
  ['hostnameDefault', { ref: 'demo@1', hostnameDefault: 'a b' }],
  ['padTo', { ref: 'demo@1', padTo: 1000 }],
])('an unusable %s is refused before anything is fetched', async (field, options) => {
  const failure = await buildOs({ ...options, cacheDirectory: '/nonexistent' }).catch((error) => error);
  expect(hasCode(failure, 'INVALID_INPUT') && failure.details.path).toBe(field);
});

test('the key of an image changes with its parameters and its packages', () => {
  const package1 = { name: 'busybox', version: '1', architecture: 'amd64', sha256: 'a'.repeat(64), file: '' };
  const keys = [
    inputKey({ ref: 'demo@1' }, [package1]),
    inputKey({ ref: 'demo@2' }, [package1]),
    inputKey({ ref: 'demo@1' }, [{ ...package1, sha256: 'b'.repeat(64) }]),
  ];
  expect(new Set(keys).size).toBe(3);
  expect(inputKey({ ref: 'demo@1' }, [{ ...package1, file: 'elsewhere' }])).toBe(keys[0]);
});

/** There once the demo or an end-to-end case has run. */
const facts = globSync('.cache/os/image-*/*.json').map(
  (file) => JSON.parse(readFileSync(file, 'utf8')) as OsImage,
);
const image = facts.find(({ file, artifact }) => existsSync(file) && existsSync(artifact));

describe.skipIf(image === undefined)('an image that was built', () => {
  const { file = '', compression = 'zstd', sizeBytes = 0 } = image ?? {};

  test('has a sound partition table', () => {
    const verdict = execFileSync('sgdisk', ['-v', file], { encoding: 'utf8', stdio: 'pipe' });
    expect(verdict).toContain('No problems found');
  });

  test('starts the same kernel and initramfs on UEFI and on BIOS', () => {
    const uki = fromEsp('EFI/BOOT/BOOTX64.EFI');
    expect(sectionData(uki, '.linux')?.equals(fromEsp('linux/vmlinuz'))).toBe(true);
    expect(sectionData(uki, '.initrd')?.equals(fromEsp('linux/initrd.img'))).toBe(true);
    expect(fromEsp('syslinux.cfg').toString()).toContain(sectionData(uki, '.cmdline')?.toString());
    expect(peSections(uki).map(({ name }) => name)).toContain('.osrel');
  });

  test('is small enough to be sent: 40 MB with zstd', () => {
    expect(compression === 'zstd' ? sizeBytes : 0).toBeLessThan(40e6);
  });

  function fromEsp(name: string): Buffer {
    const arguments_ = ['-i', `${path.resolve(file)}@@1M`, `::/${name}`];
    return execFileSync('mtype', arguments_, { maxBuffer: 64 * 1024 * 1024 });
  }
});
