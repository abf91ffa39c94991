import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { request } from 'undici';
import { systemClock } from '#base/clock.ts';
import { run } from '#base/command.ts';
import type { Toolbox } from '#base/debian/toolbox.ts';
import { type Line, startLine } from '#rack/line/line.ts';
import { type Benchmark, median, round, thisMachine } from './benchmark.ts';
import { fetchNginx, startNginx } from './nginx.ts';

const MiB = 1024 * 1024;
const directory = path.resolve(import.meta.dirname, '../../.rack/bench');
const times = 3;

/** How fast a whole site agent serves an image of its cache, and the most memory it takes, against nginx with sendfile. */
export const imageServe: Benchmark = {
  name: 'image-serve',
  about: 'the whole site agent serves an image from its cache, against nginx; peak memory of the agent',
  run: async (quick, signal) => {
    const imageBytes = (quick ? 256 : 4096) * MiB;
    const progress = (text: string) => console.error(text);
    // The line moves this process into a network namespace from which no archive is reached.
    const nginx = await fetchNginx();
    const machines = [{ name: 'm1', firmware: 'bios', disks: [] }] as const;
    const line = await startLine({
      prefix: 'bench',
      directory,
      machines,
      os: { ref: 'bench-os@1' },
      progress,
      signal,
    });
    try {
      return await serveInTurn(line, imageBytes, nginx, signal);
    } finally {
      await line.close();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function serveInTurn(line: Line, imageBytes: number, toolbox: Toolbox, signal: AbortSignal) {
  const { digest, pullPeakMiB } = await pulled(line, imageBytes, signal);
  const nginx = await startNginx(toolbox, path.join(directory, 'site/state/images'), directory);
  try {
    const file = (await run('find', [nginx.root, '-name', digest])).trim();
    const urls = {
      ours: `http://10.77.0.1:8080/images/sha256/${digest}`,
      nginx: `${nginx.url}/${path.relative(nginx.root, file)}`,
    };
    await forgetPeak(line);
    const seconds = { ours: [] as number[], nginx: [] as number[] };
    for (let turn = 0; turn < times; turn++)
      for (const who of ['ours', 'nginx'] as const) seconds[who].push(await download(urls[who]));
    const rate = (list: number[]) => Math.round(imageBytes / 1e6 / median(list));
    const [ours, peer] = [rate(seconds.ours), rate(seconds.nginx)];
    return {
      bench: 'image-serve',
      ratio: { nginx: round(ours / peer) },
      ours: { mbPerSecond: ours, peakMiB: await peakMiB(line), pullPeakMiB },
      peers: { nginx: { mbPerSecond: peer } },
      machine: { ...thisMachine(), imageBytes },
    };
  } finally {
    await nginx.stop();
  }
}

/** Lets the site pull an image of that size from the line's source. */
async function pulled(
  line: Line,
  imageBytes: number,
  signal: AbortSignal,
): Promise<{ digest: string; pullPeakMiB: number }> {
  const file = path.join(directory, 'image');
  const digest = await makeImage(file, imageBytes);
  await forgetPeak(line);
  await line.offer({
    ref: 'bench-image@1',
    file,
    sha256: digest,
    sizeBytes: imageBytes,
    compression: 'none',
  });
  const url = `http://10.77.0.1:8080/images/sha256/${digest}`;
  for (;;) {
    signal.throwIfAborted();
    const { statusCode, body } = await request(url, { method: 'HEAD' });
    await body.dump();
    if (statusCode === 200) return { digest, pullPeakMiB: await peakMiB(line) };
    await systemClock.sleep(200);
  }
}

async function makeImage(file: string, bytes: number): Promise<string> {
  const part = randomBytes(MiB);
  const parts = function* () {
    for (let at = 0; at < bytes; at += MiB) yield part;
  };
  await pipeline(parts, createWriteStream(file));
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

async function download(url: string): Promise<number> {
  const seconds = await run('curl', ['-sf', '-o', '/dev/null', '-w', '%{time_total}', url]);
  return Number(seconds);
}

/** Linux forgets a process's peak of resident memory when 5 is written here (proc(5)). */
function forgetPeak({ site }: Line): Promise<void> {
  return writeFile(`/proc/${site.process.child.pid}/clear_refs`, '5');
}

async function peakMiB({ site }: Line): Promise<number> {
  const status = await readFile(`/proc/${site.process.child.pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
