import { openTarget } from '#ramdisk/disks/target.ts';
import { openArtifact } from '#ramdisk/stream/source.ts';
import { writeImage } from '#ramdisk/stream/writeImage.ts';

/** Writes an image in a process of its own, which a test can kill; prints what `writeImage` returned, and how much memory it took. */
const [url = '', disk = '', compression = 'none', digest = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const target = await openTarget(disk);
const begun = performance.now();
const { artifactBytes, imageBytes } = await writeImage({
  image: { digest, format: 'raw', compression: compression as 'none' | 'zstd' | 'gzip' },
  artifact: openArtifact({
    places: [{ kind: 'site', url }],
    deadline: Date.now() + 60_000,
    onWait: () => {},
    signal,
  }),
  openDisk: async () => target,
  progress: () => {},
  signal,
});
const seconds = (performance.now() - begun) / 1000;
await target.close();
const peakBytes = process.resourceUsage().maxRSS * 1024;
process.stdout.write(`${JSON.stringify({ artifactBytes, imageBytes, seconds, peakBytes })}\n`);
