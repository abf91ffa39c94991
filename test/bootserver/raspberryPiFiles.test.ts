import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type RaspberryPiFiles,
  raspberryPiFiles,
  readRaspberryPiFiles,
} from '#bootserver/raspberryPiFiles.ts';

let directory: string;
let files: RaspberryPiFiles;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'pi-'));
  await mkdir(path.join(directory, '9ffefdef'));
  await mkdir(path.join(directory, 'overlays'));
  await writeFile(path.join(directory, 'start4.elf'), 'shared');
  await writeFile(path.join(directory, 'overlays/miniuart-bt.dtbo'), 'overlay');
  await writeFile(path.join(directory, '9ffefdef/config.txt'), 'own');
  await writeFile(path.join(directory, 'config.txt'), 'shared');
  files = raspberryPiFiles(await readRaspberryPiFiles(directory));
});

afterAll(() => rm(directory, { recursive: true }));

test.each([
  ['by serial number, its own', '9ffefdef/config.txt', 'own'],
  ['by serial number, what all share', '9ffefdef/start4.elf', 'shared'],
  ['by MAC', 'dc-a6-32-01-02-03/overlays/miniuart-bt.dtbo', 'overlay'],
  ['at the root, as Pi 3 does', 'start4.elf', 'shared'],
])('a ROM finds a file %s', (_, name, content) => {
  expect(files.get(name)?.toString()).toBe(content);
});

test.each(['9ffefdef/bootcode.bin', 'elsewhere/start4.elf', '9ffefdef/', '9ffefdef/9ffefdef/config.txt/x'])(
  '%s is not there',
  (name) => {
    expect(files.get(name)).toBeUndefined();
  },
);

test('a folder that is missing is refused by the name of its field', async () => {
  const missing = readRaspberryPiFiles(path.join(directory, 'nothing'));
  await expect(missing).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    details: { path: 'raspberryPiDirectory' },
  });
});
