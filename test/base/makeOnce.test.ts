import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeOnce } from '#base/makeOnce.ts';

let directory: string;
let target: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'make-once-'));
  target = path.join(directory, 'cache', 'made');
});

afterEach(() => rm(directory, { recursive: true }));

/** Makes a folder with one file in it. */
function making(content: string): (work: string) => Promise<string> {
  return async (work) => {
    await writeFile(path.join(work, 'file'), content);
    return work;
  };
}

test('makes what is not there, and leaves no work folder beside it', async () => {
  expect(await makeOnce(target, making('one'))).toBe(target);
  expect(await readFile(path.join(target, 'file'), 'utf8')).toBe('one');
  expect(await readdir(path.dirname(target))).toEqual(['made']);
});

test('does not make again what is there', async () => {
  await makeOnce(target, making('one'));
  await makeOnce(target, making('two'));
  expect(await readFile(path.join(target, 'file'), 'utf8')).toBe('one');
});

test('a failure leaves neither the target nor a work folder', async () => {
  const failing = async (work: string) => {
    await writeFile(path.join(work, 'file'), 'a part');
    throw new Error('no room');
  };
  await expect(makeOnce(target, failing)).rejects.toThrow('no room');
  expect(await readdir(path.dirname(target))).toEqual([]);
});

test('of two that make at once the first is kept, and both have it', async () => {
  const [first, second] = await Promise.all([
    makeOnce(target, making('same')),
    makeOnce(target, making('same')),
  ]);
  expect([first, second]).toEqual([target, target]);
  expect(await readdir(path.dirname(target))).toEqual(['made']);
});
