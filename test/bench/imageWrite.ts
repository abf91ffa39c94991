import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '#base/command.ts';
import { type Benchmark, round, thisMachine } from './benchmark.ts';

/**
 * How fast the ramdisk writes an image from HTTP to a disk, against `curl | decompress | dd oflag=direct` (which checks no digest), and the most memory that it
 * takes. The disk is a loop device with direct I/O (needs root).
 */
const MiB = 1024 * 1024;
const writeProcess = fileURLToPath(new URL('../ramdisk/fakes/writeProcess.ts', import.meta.url));

const ways = {
  none: { suffix: '', compress: 'true', decompress: 'cat' },
  zstd: { suffix: '.zst', compress: 'zstd -q -3 -T0 -c', decompress: 'zstd -dcq' },
  gzip: { suffix: '.gz', compress: 'gzip -1 -c', decompress: 'gzip -dc' },
} as const;
type Way = keyof typeof ways;

interface Figures {
  mbPerSecond: number;
  peakMiB?: number;
}

export const imageWrite: Benchmark = {
  name: 'image-write',
  about: 'the ramdisk writes an image from HTTP to a disk, against curl | dd; peak memory of the agent',
  run: benchImageWrite,
};

async function benchImageWrite(quick: boolean) {
  const imageBytes = (quick ? 256 : 4096) * MiB;
  const directory = mkdtempSync(path.join(tmpdir(), 'railhead-bench-'));
  const [image, disk] = [path.join(directory, 'image'), path.join(directory, 'disk')];
  writeFileSync(disk, '');
  truncateSync(disk, imageBytes + 64 * MiB);
  const device = (await run('losetup', ['-f', '--show', '--direct-io=on', disk])).trim();
  const server = await serve(directory);
  try {
    await makeImage(image, imageBytes);
    const ours: Partial<Record<Way, Figures>> = {};
    const dd: Partial<Record<Way, Figures>> = {};
    const ratio: Record<string, number> = {};
    for (const way of Object.keys(ways) as Way[]) {
      const file = compressed(image, way);
      const digest = execFileSync('sha256sum', [file], { encoding: 'utf8' }).slice(0, 64);
      const url = `${server.url}/${path.basename(file)}`;
      ours[way] = await writeOurs(url, device, way, digest);
      const theirs = await writeWithDd(url, device, way, imageBytes);
      dd[way] = theirs;
      ratio[`curl | dd, ${way}`] = round(ours[way].mbPerSecond / theirs.mbPerSecond);
    }
    const machine = { ...thisMachine(), imageBytes, disk: 'loop device, direct I/O' };
    return { bench: 'image-write', ratio, ours, peers: { 'curl | dd': dd }, machine };
  } finally {
    server.close();
    await run('losetup', ['-d', device]);
    rmSync(directory, { recursive: true });
  }
}

/** As OS images are: half of it empty, the rest in turn hard and easy to compress. */
async function makeImage(file: string, size: number): Promise<void> {
  const out = createWriteStream(file);
  const easy = Buffer.from(Array.from({ length: MiB / 16 }, (_, line) => `line ${line}`.padEnd(16)).join(''));
  for (let at = 0; at < size / 2; at += MiB) {
    const part = at === 0 ? Buffer.alloc(MiB) : (at / MiB) % 2 === 0 ? easy : randomBytes(MiB);
    if (!out.write(part)) await new Promise((resolve) => out.once('drain', resolve));
  }
  await new Promise<void>((resolve) => out.end(resolve));
  truncateSync(file, size);
}

function compressed(image: string, way: Way): string {
  const { suffix, compress } = ways[way];
  if (suffix !== '') execFileSync('sh', ['-c', `${compress} ${image} >${image}${suffix}`]);
  return `${image}${suffix}`;
}

async function writeOurs(url: string, device: string, way: Way, digest: string): Promise<Figures> {
  const text = await outputOf(process.execPath, [writeProcess, url, device, way, digest]);
  const { imageBytes, seconds, peakBytes } = JSON.parse(text) as Record<string, number>;
  return {
    mbPerSecond: Math.round((imageBytes ?? 0) / 1e6 / (seconds ?? 1)),
    peakMiB: Math.round((peakBytes ?? 0) / MiB),
  };
}

async function writeWithDd(url: string, device: string, way: Way, imageBytes: number): Promise<Figures> {
  const begun = performance.now();
  const dd = `dd of=${device} bs=1M iflag=fullblock oflag=direct conv=fsync status=none`;
  await outputOf('sh', ['-c', `curl -sf ${url} | ${ways[way].decompress} | ${dd}`]);
  return { mbPerSecond: Math.round(imageBytes / 1e6 / ((performance.now() - begun) / 1000)) };
}

function outputOf(program: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.on('close', (status) =>
      status === 0 ? resolve(text) : reject(new Error(`${program} ended with ${status}`)),
    );
  });
}

async function serve(directory: string): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const file = path.join(directory, path.basename(request.url ?? ''));
    const start = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
    const { size } = statSync(file);
    response.writeHead(206, {
      'content-length': size - start,
      'content-range': `bytes ${start}-${size - 1}/${size}`,
    });
    createReadStream(file, { start, highWaterMark: MiB }).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
