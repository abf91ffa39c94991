import { globSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { run } from '#base/command.ts';

const scripts = globSync(['ramdisk/image/root/usr/lib/railhead/*', 'ramdisk/image/firstStage/*']);

test('the scripts of the ramdisk are there', () => {
  expect(scripts).toContain('ramdisk/image/firstStage/init');
  expect(scripts.length).toBeGreaterThan(4);
});

test.each(scripts)('%s can be run and is valid shell', async (script) => {
  expect((await stat(script)).mode & 0o111).toBe(0o111);
  expect(await run('sh', ['-n', script])).toBe('');
});
