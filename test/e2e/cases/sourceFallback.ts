import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { CacheImage } from '#contract/images.ts';
import { openTarget } from '#ramdisk/disks/target.ts';
import { openArtifact } from '#ramdisk/stream/source.ts';
import { writeImage } from '#ramdisk/stream/writeImage.ts';
import { straced } from '../../cache/strace.ts';
import { fileDisk } from '../../ramdisk/fakes/loopDisk.ts';
import { type CacheLab, type CacheSite, MiB, withCacheLab } from '../cache/lab.ts';
import type { EndToEndCase } from '../endToEndCase.ts';
import type { Report } from '../report.ts';

const sizeBytes = 64 * MiB;

export const sourceFallback: EndToEndCase = {
  name: 'source-fallback',
  about:
    "the site's disk fails in the middle of a deploy: the machine goes on from the source at that byte, and has the whole image",
  run: async (report, { signal }) =>
    withCacheLab(async (lab) => {
      const image = lab.image('os', sizeBytes);
      report.phase('pull');
      const site = await lab.start({ images: [image] }, await failingReads(lab, image));
      report.check('the image is ready', await site.comesTo(image, 'ready', 60_000));
      const pulls = lab.source.requests.length;
      report.phase('deploy');
      await deploy(report, lab, site, image, signal);
      const resumed = lab.source.requests[pulls]?.headers.range ?? '';
      const from = Number(/^bytes=(\d+)-$/.exec(resumed)?.[1]);
      report.check('the source was asked from the byte reached on', from > 0 && from < sizeBytes, resumed);
      report.phase('the site afterwards');
      const said = site.lines.some((line) => line.includes('the disk does not give its bytes back'));
      report.check('the site says that its disk fails', said, site.lines.slice(-5));
      const quarantine = await readdir(path.join(lab.directory, 'images/v1/quarantine'));
      report.check('its copy is in quarantine', quarantine.join() === image.digest, quarantine);
      report.check('and it pulls another', await site.comesTo(image, 'ready', 60_000));
    }),
};

/** The reads of the image's own file fail after a few: strace stands for the disk. */
async function failingReads({ directory }: CacheLab, { digest }: CacheImage): Promise<string[]> {
  const file = path.join(directory, 'images/v1/sha256', digest.slice(0, 2), digest);
  const calls = 'read,pread64,preadv,sendfile,splice';
  const log = path.join(directory, 'strace.log');
  // Counted by thread: some MiB have gone by then.
  const inject = `inject=${calls}:error=EIO:when=5..20`;
  return straced(['-o', log, '-P', file, '-e', `trace=${calls}`, '-e', inject]);
}

async function deploy(
  report: Report,
  lab: CacheLab,
  site: CacheSite,
  image: CacheImage,
  signal: AbortSignal,
): Promise<void> {
  const disk = await fileDisk({ sizeBytes: 80 * MiB, fill: 0xff });
  const target = await openTarget(disk.path);
  const waits: string[] = [];
  const artifact = openArtifact({
    places: [
      { kind: 'site', url: site.imageUrl(image) },
      { kind: 'origin', url: image.sources[0] ?? '' },
    ],
    sizeBytes,
    ca: lab.sourceCa,
    deadline: performance.timeOrigin + performance.now() + 60_000,
    onWait: (why) => void waits.push(why),
    signal,
  });
  try {
    await writeImage({ image, artifact, openDisk: async () => target, progress: () => {}, signal });
    report.check('the deploy ends well', true);
    report.check('its last bytes came from the source', artifact.state.from === 'origin', artifact.state);
    const written = (await readFile(disk.file)).subarray(0, sizeBytes);
    const digest = createHash('sha256').update(written).digest('hex');
    report.check('the disk has the whole image', digest === image.digest, waits);
  } finally {
    await target.close();
    await disk.remove();
  }
}
