import { randomBytes } from 'node:crypto';
import { open, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { contentOf, imageOf, sha256, startCache, temporaryDirectory } from './testBench.ts';

const bytes = randomBytes(10_000);
const digest = sha256(bytes);

async function earlierRun(): Promise<{ directory: string; index: string }> {
  const directory = await temporaryDirectory();
  const cache = await startCache({ directory });
  await cache.operator.importImage(Readable.from([bytes]), {
    ...{ digest: sha256(bytes), sizeBytes: bytes.length },
    known: () => imageOf(bytes, 'https://127.0.0.1:1/x'),
  });
  await cache.close();
  return { directory, index: path.join(directory, 'v1/index.db') };
}

function sql(statement: string) {
  return async (index: string) => {
    const database = new Database(index);
    database.exec(statement);
    database.close();
  };
}

async function scribble(index: string): Promise<void> {
  const { size } = await stat(index);
  const handle = await open(index, 'r+');
  await handle.write(Buffer.alloc(size - 4096, 0xaa), 0, size - 4096, 4096);
  await handle.close();
}

test.each([
  ['of a newer release', sql('PRAGMA user_version = 9')],
  ['without a table', sql('DROP TABLE held')],
  ['whose pages are damaged', scribble],
  ['with a row that nobody wrote', sql("UPDATE held SET mtime_ns = 'x'")],
  ['that is none', (index: string) => writeFile(index, 'noise '.repeat(2000))],
])('an index %s is set aside, and the files are hashed again', async (_, harm) => {
  const { directory, index } = await earlierRun();
  await harm(index);
  const cache = await startCache({ directory });
  expect(await contentOf(cache, digest)).toEqual(bytes);
  expect(cache.operator.overview().troubles.length).toBe(1);
  await cache.close();
  const again = await startCache({ directory });
  expect(again.operator.overview().troubles).toEqual([]);
  expect(again.state(digest)?.state).toBe('ready');
});

test('a directory that cannot be made is told, and the cache opens empty', async () => {
  const file = path.join(await temporaryDirectory(), 'file');
  await writeFile(file, '');
  const cache = await startCache({ directory: path.join(file, 'images') });
  expect(cache.inventory().images).toEqual([]);
  expect(cache.operator.overview().troubles.length).toBeGreaterThan(0);
});
