import { mkdtemp, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '#base/command.ts';
import { type CpioEntry, cpioArchive } from '#ramdisk/image/cpio.ts';

const entries: CpioEntry[] = [
  { path: 'etc', kind: 'directory', mode: 0o755, data: Buffer.alloc(0) },
  { path: 'etc/name', kind: 'file', mode: 0o640, data: Buffer.from('railhead') },
  { path: 'etc/link', kind: 'link', mode: 0o777, data: Buffer.from('name') },
];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cpio-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

test('GNU cpio unpacks what was written, with modes and times', async () => {
  await run('sh', ['-c', 'base64 -d | cpio -id --quiet --preserve-modification-time'], {
    cwd: directory,
    input: cpioArchive(entries).toString('base64'),
  });
  const file = path.join(directory, 'etc/name');
  expect(await readFile(file, 'utf8')).toBe('railhead');
  expect(await readlink(path.join(directory, 'etc/link'))).toBe('name');
  const { mode, mtimeMs } = await stat(file);
  expect({ mode: mode & 0o777, mtimeMs }).toEqual({ mode: 0o640, mtimeMs: 0 });
});

test('an archive ends where another may begin', () => {
  expect(cpioArchive(entries).length % 512).toBe(0);
  expect(cpioArchive([]).length % 512).toBe(0);
});

test('the first member is a newc header with the fields in order', () => {
  const text = cpioArchive(entries).toString('latin1');
  const hex = ['00000001', '000041ED', '00000000', '00000000', '00000002', '00000000', '00000000'].join('');
  expect(text.startsWith(`070701${hex}`)).toBe(true);
  expect(text.slice(110, 114)).toBe('etc\0');
});
