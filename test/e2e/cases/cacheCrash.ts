import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLog } from '#base/log.ts';
import { openCache } from '#cache/imageCache.ts';
import { type Killed, killRepeatedly } from '../../cache/killing.ts';
import { makeTestCa, type TestCa } from '../../fakes/certificates.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';

const [kills, atOnce] = [200, 2];

export const cacheCrash: EndToEndCase = {
  name: 'cache-crash',
  about:
    'a process that pulls and evicts is killed at 200 moments of chance: no file is ever wrong, and the next start is clean',
  run: async (report) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'railhead-cache-crash-'));
    const ca = await makeTestCa();
    try {
      report.phase(`kill ${kills} times`);
      const folders = Array.from({ length: atOnce }, (_, n) => path.join(directory, String(n)));
      const killed = await Promise.all(folders.map((folder) => killRepeatedly(kills / atOnce, folder, ca)));
      const wrong = killed.flatMap((one) => one.wrong);
      report.check('no visible file ever had other bytes than its name says', wrong.length === 0, wrong);
      const parts = killed.reduce((sum, one) => sum + one.parts, 0);
      report.check('the kills hit pulls in the middle', parts >= kills / 10, parts);
      report.phase('start again');
      for (const [n, folder] of folders.entries()) await checkStart(report, folder, killed[n]!, ca);
      for (const one of killed) await one.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function checkStart(report: Report, directory: string, { images }: Killed, ca: TestCa): Promise<void> {
  const cache = await openCache({ directory, quotaBytes: 1024 ** 3, sourceCa: ca.pem, log: silentLog() });
  try {
    cache.desire(images);
    await Promise.all(images.map(({ digest }) => cache.ready(digest)));
    const { troubles, damages } = cache.operator.overview();
    report.check(`${path.basename(directory)}: all of it is ready again`, true);
    report.check(
      `${path.basename(directory)}: nothing was damaged, and nothing ails the disk`,
      damages === 0 && troubles.length === 0,
      { damages, troubles },
    );
  } finally {
    await cache.close();
  }
}
