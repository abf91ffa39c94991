import { open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { MiB, withCacheLab } from '../cache/lab.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import { eventually } from '../loopback/withLab.ts';

export const bitRot: EndToEndCase = {
  name: 'bit-rot',
  about:
    'a bit of a held image flips on the disk: the scrub finds it, nobody gets it, it comes back from the source',
  run: async (report) =>
    withCacheLab(async ({ directory, source, image, start }) => {
      const held = image('held', 8 * MiB);
      report.phase('pull');
      const site = await start({ images: [held], scrubMs: 1500 });
      report.check('the image is ready', await site.comesTo(held, 'ready'));
      report.phase('flip a bit');
      await flipBit(path.join(directory, 'images/v1/sha256', held.digest.slice(0, 2), held.digest));
      const row = await eventually(async () => {
        const found = await site.row(held);
        return found?.state === 'failed' ? found : undefined;
      });
      report.check('the inventory says failed, bit-rot, and when it is tried again', isBitRot(row), row);
      report.check('nobody is served meanwhile', (await site.fetch(held)).status === 502);
      report.check(
        'the log says so in words',
        site.lines.some((line) => line.includes('bytes on the disk changed')),
        site.lines.slice(-5),
      );
      const { damages } = await site.listing();
      report.check('it is counted', damages === 1, damages);
      const quarantine = await readdir(path.join(directory, 'images/v1/quarantine'));
      report.check('the damaged file is in quarantine', quarantine.join() === held.digest, quarantine);
      report.phase('pull it again');
      report.check('it comes back by itself', await site.comesTo(held, 'ready'));
      report.check('and is whole', (await site.fetch(held)).isWhole);
      report.check('by one more pull', source.requests.length === 2, source.requests.length);
    }),
};

function isBitRot(
  row: { error?: { details?: { reason?: unknown } }; nextTryAt?: string } | undefined,
): boolean {
  return row?.error?.details?.reason === 'bit-rot' && row.nextTryAt !== undefined;
}

/** As a disk does it: neither size nor times tell. */
async function flipBit(file: string): Promise<void> {
  const times = `${file}.times`;
  await run('touch', ['-r', file, times]);
  const handle = await open(file, 'r+');
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, 5 * MiB);
  await handle.write(Buffer.from([(byte[0] ?? 0) ^ 4]), 0, 1, 5 * MiB);
  await handle.sync();
  await handle.close();
  await run('touch', ['-r', times, file]);
  await rm(times);
}
