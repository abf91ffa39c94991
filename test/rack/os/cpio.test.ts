import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { cpioArchive } from '#rack/os/cpio.ts';
import { completeTree, directory, file, symlink } from '#rack/os/tree.ts';

const tree = completeTree([
  file('bin/busybox', Buffer.alloc(1001, 'b'), 0o755),
  symlink('bin/sh', 'busybox'),
  directory('tmp', 0o1777),
]);

test('a foreign cpio lists names, modes and sizes', () => {
  const listing = execFileSync('cpio', ['-itv', '--quiet', '--numeric-uid-gid'], {
    input: cpioArchive(tree),
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
  });
  const seen = listing
    .trim()
    .split('\n')
    .map((line) => line.replace(/ +/g, ' '));
  expect(seen).toEqual([
    'drwxr-xr-x 2 0 0 0 Jan 1 1970 bin',
    '-rwxr-xr-x 1 0 0 1001 Jan 1 1970 bin/busybox',
    'lrwxrwxrwx 1 0 0 7 Jan 1 1970 bin/sh -> busybox',
    'drwxrwxrwt 2 0 0 0 Jan 1 1970 tmp',
  ]);
});

test('the same tree gives the same bytes', () => {
  expect(cpioArchive(tree).equals(cpioArchive(completeTree(tree.toReversed())))).toBe(true);
});
