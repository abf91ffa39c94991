import { cp, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCentral } from '#central/start.ts';
import { backUpBooks } from '#central/store/backup.ts';
import { apiClient, mintToken, mustRegister, osImage, startTestCentre, type TestCentre } from '../centre.ts';
import { dialect } from '../directory.ts';

let centre: TestCentre;
let folder: string;

beforeAll(async () => {
  centre = await startTestCentre();
  folder = await mkdtemp(path.join(os.tmpdir(), 'railhead-backup-'));
});
afterAll(async () => {
  await centre.close();
  await rm(folder, { recursive: true });
});

const local = { host: '127.0.0.1', port: 0 };

test.runIf(dialect === 'sqlite')(
  'a backup made in the middle of writes, with the keys, is a centre again that has all that was acknowledged before',
  async () => {
    const token = await mintToken(centre.directory, ['compute:*@compute-fleet:*']);
    let written = 0;
    let more = true;
    const writing = (async () => {
      for (; more; written++) await mustRegister(centre.call, osImage({ ref: `written@${written}` }));
    })();
    await expect.poll(() => written, { timeout: 10_000 }).toBeGreaterThan(10);
    const before = written;
    const backup = await backUpBooks(centre.directory, path.join(folder, 'books.db'));
    more = false;
    await writing;
    expect((await stat(backup.file)).mode & 0o777).toBe(0o600);

    const restored = path.join(folder, 'restored');
    await cp(path.join(centre.directory, 'keys'), path.join(restored, 'keys'), { recursive: true });
    await rename(backup.file, path.join(restored, 'central.db'));
    const again = await startCentral({
      directory: restored,
      api: local,
      agents: local,
      names: ['127.0.0.1'],
    });
    try {
      const { data } = await apiClient(again.apiUrl, token)<{ items: { ref: string }[] }>('images.list', {
        tenantId: 'root',
        limit: 200,
      });
      expect(data.items.length).toBeGreaterThanOrEqual(before);
      expect(data.items.map(({ ref }) => ref)).toContain(`written@${before - 1}`);
    } finally {
      await again.close();
    }
  },
);

test.runIf(dialect === 'sqlite')('a backup overwrites nothing and leaves nothing half-made', async () => {
  const file = path.join(folder, 'twice.db');
  await backUpBooks(centre.directory, file);
  await expect(backUpBooks(centre.directory, file)).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(backUpBooks(folder, path.join(folder, 'none.db'))).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test.runIf(dialect === 'postgres')('books in PostgreSQL are left to pg_dump', async () => {
  const refused = backUpBooks(centre.directory, path.join(folder, 'books.db'));
  await expect(refused).rejects.toMatchObject({ code: 'UNSUPPORTED', details: { reason: 'postgres' } });
});
