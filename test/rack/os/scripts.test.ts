import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { overlay } from '#rack/os/tree.ts';

const entries = ['initramfs', 'root'].flatMap((name) => overlay(`rack/os/files/${name}`));
const scripts = entries.flatMap((entry) =>
  entry.kind === 'file' && entry.mode === 0o755 ? [[entry.path, entry.content] as const] : [],
);

test('the scripts of the OS are executable, other files are not', () => {
  expect(scripts.map(([name]) => name)).toContain('init');
  expect(entries.find((entry) => entry.path === 'etc/inittab')).toMatchObject({ mode: 0o644 });
});

test.each(scripts)('sh can parse %s', (_, content) => {
  execFileSync('sh', ['-n'], { input: content });
});
