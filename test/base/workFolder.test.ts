import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sweepWorkFolders } from '#base/workFolder.ts';

test('removes the work folders of processes that were killed, and leaves those in use and all else', async () => {
  const parent = await mkdtemp(path.join(tmpdir(), 'work-folders-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  for (const [name, hoursAgo] of Object.entries({ '.partial-killed': 2, '.partial-used': 0.5, made: 2 })) {
    await mkdir(path.join(parent, name));
    const touched = new Date(Date.now() - hoursAgo * 3_600_000);
    await utimes(path.join(parent, name), touched, touched);
  }
  await sweepWorkFolders(parent);
  expect((await readdir(parent)).sort()).toEqual(['.partial-used', 'made']);
});
