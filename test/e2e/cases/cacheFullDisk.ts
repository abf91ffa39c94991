import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { run } from '#base/command.ts';
import { type CacheLab, type CacheSite, MiB, withCacheLab } from '../cache/lab.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';

export const cacheFullDisk: EndToEndCase = {
  name: 'cache-full-disk',
  about:
    'the disk of the cache is full, then read-only: it says so, serves what it holds, starts, and goes on once it can',
  run: async (report) =>
    withCacheLab(async (lab) => {
      report.phase('mount a small disk');
      const disk = await mountSmallDisk(lab.directory);
      try {
        await fillAndEmpty(report, lab, disk);
        await readOnly(report, lab, disk);
      } finally {
        await run('umount', ['--lazy', disk]);
      }
    }),
};

/** A file system of 64 MiB; needs root. */
async function mountSmallDisk(directory: string): Promise<string> {
  const device = path.join(directory, 'small.img');
  const mountPoint = path.join(directory, 'small');
  await mkdir(mountPoint);
  await run('truncate', ['-s', '64M', device]);
  await run('mkfs.ext4', ['-q', '-m', '0', device]);
  await run('mount', ['-o', 'loop', device, mountPoint]);
  return mountPoint;
}

async function fillAndEmpty(report: Report, { image, start }: CacheLab, disk: string): Promise<void> {
  const [held, wanted, large] = [
    image('held', 4 * MiB),
    image('wanted', 20 * MiB),
    image('large', 200 * MiB),
  ];
  report.phase('fill the disk');
  const site = await start({ directory: disk, images: [held] });
  report.check('an image comes in', await site.comesTo(held, 'ready'));
  await run('sh', ['-c', `cat /dev/zero > ${disk}/others || true`]);
  await site.kill();

  report.phase('start on a full disk');
  const full = await start({ directory: disk, images: [held, wanted, large] });
  report.check('what is held is served', (await full.fetch(held)).isWhole);
  await checkNoSpace(report, full, wanted.digest);
  report.check('an image larger than the disk is refused before a byte', await full.comesTo(large, 'failed'));
  report.phase('make room');
  await run('rm', [path.join(disk, 'others')]);
  report.check('the other comes in by itself', await full.comesTo(wanted, 'ready', 90_000));
  report.check('and is whole', (await full.fetch(wanted)).isWhole);
  await full.kill();
}

async function checkNoSpace(report: Report, site: CacheSite, digest: string): Promise<void> {
  const { images } = await site.listing();
  const row = images.find((one) => one.digest === digest);
  const failed = row === undefined || (await site.comesTo({ digest } as never, 'failed'));
  const error = (await site.listing()).images.find((one) => one.digest === digest)?.error;
  report.check(
    'the other fails by no-space, with words',
    failed && error?.details?.reason === 'no-space',
    error,
  );
}

async function readOnly(report: Report, { image, start }: CacheLab, disk: string): Promise<void> {
  const held = image('kept', 3 * MiB);
  const wanted = image('later', 2 * MiB);
  const before = await start({ directory: disk, images: [held] });
  await before.comesTo(held, 'ready');
  await before.kill();

  report.phase('start on a read-only disk');
  await run('mount', ['-o', 'remount,ro', disk]);
  const site = await start({ directory: disk, images: [held, wanted] });
  report.check('what is held is served from a read-only disk', (await site.fetch(held)).isWhole);
  report.check('what is not cannot come in', await site.comesTo(wanted, 'failed'));
  const error = (await site.row(wanted))?.error;
  report.check('its row says that the disk is read-only', /read-only/.test(error?.message ?? ''), error);
  const { troubles } = await site.listing();
  report.check(
    'the list says what ails the cache',
    troubles.some(({ text }) => /read-only/.test(text)),
    troubles,
  );
  report.check(
    'the log says it too',
    site.lines.some((line) => line.includes('read-only')),
  );
  await site.kill();

  report.phase('start again, writable');
  await run('mount', ['-o', 'remount,rw', disk]);
  const again = await start({ directory: disk, images: [held, wanted] });
  report.check('the other comes in', await again.comesTo(wanted, 'ready'));
  report.check('and what was held still is', (await again.fetch(held)).isWhole);
  await again.kill();
}
