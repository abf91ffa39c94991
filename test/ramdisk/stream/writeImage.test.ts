import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { compress } from 'zstd-napi';
import { type Closable, closeAll } from '#base/shutdown.ts';
import type { Compression } from '#contract/images.ts';
import { openTarget, type Target } from '#ramdisk/disks/target.ts';
import { openArtifact } from '#ramdisk/stream/source.ts';
import { type WriteImage, writeImage } from '#ramdisk/stream/writeImage.ts';
import {
  fileDisk,
  kernelReadsGpt,
  loopDisk,
  mayUseLoopDevices,
  type TestDisk,
  type TestDiskOptions,
} from '../fakes/loopDisk.ts';
import { httpSource, rawSource, serving } from '../fakes/source.ts';

const MiB = 1024 * 1024;
const writeProcess = path.resolve(import.meta.dirname, '../fakes/writeProcess.ts');
const open: Closable[] = [];
afterEach(() => closeAll(open.splice(0)));

const directory = mkdtempSync(path.join(tmpdir(), 'railhead-write-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A real image: GPT with an ESP, random content with a hole in it. */
const image = (() => {
  const file = path.join(directory, 'image');
  writeFileSync(file, '');
  truncateSync(file, 24 * MiB);
  execFileSync('sgdisk', ['-n', '1:2048:+4M', '-t', '1:ef00', '-n', '2:0:0', file]);
  const content = readFileSync(file);
  randomBytes(5 * MiB).copy(content, 6 * MiB);
  randomBytes(3 * MiB).copy(content, 20 * MiB);
  return content;
})();

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const compressed: Record<Compression, Buffer> = {
  none: image,
  zstd: Buffer.from(compress(image)),
  gzip: gzipSync(image, { level: 1 }),
};

interface Case {
  served: Buffer;
  disk: TestDisk;
  compression?: Compression;
  digest?: string;
  sizeBytes?: number;
  onOpen?: (target: Target) => Promise<void>;
  progress?: WriteImage['progress'];
  seed?: WriteImage['seed'];
}

async function write({ served, disk, compression = 'none', digest = sha256(served), ...rest }: Case) {
  const source = await httpSource(serving(served));
  open.push(source);
  return await writeFrom(source.url, { disk, compression, digest, ...rest });
}

async function writeFrom(
  url: string,
  { disk, compression = 'none', digest = '', ...rest }: Omit<Case, 'served'>,
) {
  const { sizeBytes, onOpen, seed, progress = () => {} } = rest;
  const signal = AbortSignal.timeout(15_000);
  let target: Target | undefined;
  try {
    return await writeImage({
      image: { digest, format: 'raw', compression, ...(sizeBytes !== undefined && { sizeBytes }) },
      artifact: openArtifact({
        places: [{ kind: 'site', url }],
        sizeBytes,
        deadline: Date.now() + 5000,
        patienceMs: 1000,
        idleMs: 500,
        onWait: () => {},
        signal,
      }),
      openDisk: async () => {
        target = await openTarget(disk.path);
        await onOpen?.(target);
        return target;
      },
      seed,
      progress,
      signal,
    });
  } finally {
    await target?.close();
  }
}

async function makeDisk(kind: 'file' | 'loop', options: TestDiskOptions): Promise<TestDisk> {
  const disk = await (kind === 'loop' ? loopDisk(options) : fileDisk(options));
  open.push({ close: disk.remove });
  return disk;
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it should have failed'),
    (error) => ({ code: error.code, ...error.details }),
  );

/** What is to be on a disk of that size: the image, its table moved by sgdisk's rules as checked in gpt.test. */
function expectBootable(content: Buffer) {
  const file = path.join(directory, 'check');
  writeFileSync(file, content);
  expect(execFileSync('sgdisk', ['-v', file], { encoding: 'utf8', stdio: 'pipe' })).toContain(
    'No problems found',
  );
  expect(
    content.subarray(34 * 512, image.length - MiB).equals(image.subarray(34 * 512, image.length - MiB)),
  ).toBe(true);
}

const isZero = (bytes: Buffer) => bytes.equals(Buffer.alloc(bytes.length));
function expectUntouched(content: Buffer) {
  expect(content.equals(Buffer.alloc(content.length, 0xff))).toBe(true);
}

function expectUnbootable(content: Buffer) {
  expect(isZero(content.subarray(0, MiB))).toBe(true);
  expect(isZero(content.subarray(-MiB))).toBe(true);
}

const kinds = mayUseLoopDevices ? (['file', 'loop'] as const) : (['file'] as const);

describe.each(kinds)('a %s', (kind) => {
  test.each(['none', 'zstd', 'gzip'] as const)('takes an image with compression %s', async (compression) => {
    const disk = await makeDisk(kind, { sizeBytes: 40 * MiB, fill: 0xff });
    const written = await write({ served: compressed[compression], disk, compression });
    expect(written).toMatchObject({
      artifactBytes: compressed[compression].length,
      imageBytes: image.length,
    });
    expectBootable(await disk.content());
  });

  test('of exactly the size of the image takes it', async () => {
    const disk = await makeDisk(kind, { sizeBytes: image.length, fill: 0xff });
    await write({ served: image, disk });
    expect((await disk.content()).equals(image)).toBe(true);
  });

  test('that gets other bytes than the catalog says is left unbootable, the error names both digests', async () => {
    const disk = await makeDisk(kind, { sizeBytes: 24 * MiB, fill: 0xff });
    const other = Buffer.from(image);
    other[10 * MiB] = (other[10 * MiB] ?? 0) ^ 1;
    expect(await failureOf(write({ served: other, disk, digest: sha256(image) }))).toMatchObject({
      code: 'DRIVER_ERROR',
      reason: 'digest-mismatch',
      expected: sha256(image),
      found: sha256(other),
    });
    expectUnbootable(await disk.content());
  });
});

test.runIf(mayUseLoopDevices)('a disk with sectors of 4096 bytes takes an image made for them', async () => {
  const made = await makeDisk('loop', { sizeBytes: 8 * MiB, sectorSize: 4096 });
  execFileSync('sgdisk', ['-n', '1:256:0', made.path], { stdio: 'pipe' });
  const served = await made.content();
  const disk = await makeDisk('loop', { sizeBytes: 20 * MiB, sectorSize: 4096, fill: 0xff });
  await write({ served, disk });
  const verdict = execFileSync('sgdisk', ['-v', disk.path], { encoding: 'utf8', stdio: 'pipe' });
  expect(verdict).toContain('No problems found');
});

/** Whether this machine's kernel was built to read GPT at all. */
const readsGpt = mayUseLoopDevices && (await kernelReadsGpt(path.join(directory, 'image')));

test.runIf(readsGpt)('the kernel shows the partitions of the image when the writing ends', async () => {
  const disk = await makeDisk('loop', { sizeBytes: 40 * MiB });
  await write({ served: image, disk });
  const shown = execFileSync('lsblk', ['-nro', 'NAME', disk.path], { encoding: 'utf8' });
  expect(shown).toContain(`${path.basename(disk.path)}p2`);
});

test.runIf(mayUseLoopDevices)(
  'an image for sectors of 512 bytes is refused by a disk with 4096 before a byte',
  async () => {
    const disk = await makeDisk('loop', { sizeBytes: 40 * MiB, sectorSize: 4096, fill: 0xff });
    expect(await failureOf(write({ served: image, disk }))).toMatchObject({
      code: 'UNSUPPORTED',
      reason: 'sector-size',
    });
    expectUntouched(await disk.content());
  },
);

test.runIf(mayUseLoopDevices)('a disk in use is refused by the kernel before a byte', async () => {
  const disk = await makeDisk('loop', { sizeBytes: 40 * MiB, fill: 0xff });
  const holder = await openTarget(disk.path);
  open.push(holder);
  expect(await failureOf(write({ served: image, disk }))).toMatchObject({
    code: 'INVALID_STATE',
    reason: 'in-use',
  });
  expectUntouched(await disk.content());
});

// I10: the uncompressed size counts, not the compressed one.
test.each(['none', 'zstd', 'gzip'] as const)(
  'a disk that is too small for the table of a %s image is refused before a byte',
  async (compression) => {
    const disk = await makeDisk('file', { sizeBytes: image.length - 512, fill: 0xff });
    const failure = await failureOf(write({ served: compressed[compression], disk, compression }));
    expect(failure).toMatchObject({ code: 'INVALID_STATE', reason: 'no-space' });
    expectUntouched(await disk.content());
  },
);

test('an image whose size nobody knew stops at the end of the disk and leaves it unbootable', async () => {
  const disk = await makeDisk('file', { sizeBytes: 10 * MiB, fill: 0xff });
  const served = gzipSync(randomBytes(11 * MiB), { level: 1 });
  const failure = await failureOf(write({ served, disk, compression: 'gzip' }));
  expect(failure).toMatchObject({ code: 'INVALID_STATE', reason: 'no-space', diskBytes: 10 * MiB });
  expectUnbootable(await disk.content());
});

// I12: a length that is no multiple of the sector.
test('the last partial sector is padded with zeros, the digest is of the real bytes', async () => {
  const disk = await makeDisk('file', { sizeBytes: 8 * MiB, fill: 0xff });
  const odd = randomBytes(5 * MiB + 100);
  await write({ served: odd, disk });
  const content = await disk.content();
  expect(content.subarray(0, odd.length).equals(odd)).toBe(true);
  expect(isZero(content.subarray(odd.length, 5 * MiB + 512))).toBe(true);
});

test.each([
  ['qcow2', Buffer.concat([Buffer.from('514649fb00000003', 'hex'), Buffer.alloc(MiB)])],
  ['an HTML page', Buffer.from('<!DOCTYPE html><html><body>not found</body></html>')],
  ['zstd', compressed.zstd],
  ['nothing', Buffer.alloc(0)],
])('%s that is declared raw is refused before a byte', async (_, served) => {
  const disk = await makeDisk('file', { sizeBytes: 8 * MiB, fill: 0xff });
  const failure = await failureOf(write({ served, disk }));
  expect(failure).toMatchObject({ code: 'DRIVER_ERROR' });
  expectUntouched(await disk.content());
});

// I1, the cut that no HTTP client can see: only the digest finds it.
test('a source cut without a trace leaves the disk unbootable', async () => {
  const disk = await makeDisk('file', { sizeBytes: 40 * MiB, fill: 0xff });
  const answer = Buffer.concat([
    Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'),
    image.subarray(0, 9 * MiB),
  ]);
  const source = await rawSource([{ bytes: answer }]);
  open.push(source);
  const failure = await failureOf(writeFrom(source.url, { disk, digest: sha256(image) }));
  expect(failure).toMatchObject({
    reason: 'digest-mismatch',
    expected: sha256(image),
    artifactBytes: 9 * MiB,
  });
  expectUnbootable(await disk.content());
});

test('the seed is put in when all but sector 0 is on the disk', async () => {
  const disk = await makeDisk('file', { sizeBytes: 40 * MiB, fill: 0xff });
  let seen: Buffer | undefined;
  const install = async (device: string, volumes: readonly unknown[]) => {
    expect(device).toBe(disk.path);
    expect(volumes[0]).toEqual({ isEsp: true, offset: MiB, sizeBytes: 4 * MiB });
    seen = await disk.content();
  };
  await write({ served: image, disk, seed: { check: () => {}, install } });
  const after = await disk.content();
  expectBootable(after);
  expect(isZero(seen?.subarray(0, 512) ?? Buffer.alloc(1, 1))).toBe(true);
  expect(seen?.subarray(512).equals(after.subarray(512))).toBe(true);
});

test('a seed that fails leaves the disk unbootable, and why it failed is told', async () => {
  const disk = await makeDisk('file', { sizeBytes: 40 * MiB, fill: 0xff });
  const install = () => Promise.reject(new Error('the mount failed'));
  const writing = write({ served: image, disk, seed: { check: () => {}, install } });
  await expect(writing).rejects.toThrow('the mount failed');
  expectUnbootable(await disk.content());
});

test('connections that break every 3 MiB do not change what is written', async () => {
  const disk = await makeDisk('file', { sizeBytes: 24 * MiB });
  const source = await httpSource((request, response) => {
    const first = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
    const range = `bytes ${first}-${image.length - 1}/${image.length}`;
    response.writeHead(206, { 'content-range': range, 'content-length': image.length - first });
    response.write(image.subarray(first, first + 3 * MiB), () => response.destroy());
  });
  open.push(source);
  await writeFrom(source.url, { disk, digest: sha256(image) });
  expect((await disk.content()).equals(image)).toBe(true);
  expect(source.ranges.length).toBeGreaterThanOrEqual(8);
});

test('until the digest has matched both ends are zero, and sector 0 is the last write', async () => {
  const disk = await makeDisk('file', { sizeBytes: 24 * MiB, fill: 0xff });
  const writes: string[] = [];
  await write({
    served: image,
    disk,
    onOpen: async (target) => {
      const { write: real, sync } = target;
      target.write = async (buffer, offset) => {
        writes.push(offset < MiB ? (offset === 0 && buffer.length === 512 ? 'sector 0' : 'head') : 'body');
        if (offset === 512)
          expectUnbootable(Buffer.concat([(await disk.content()).subarray(0, MiB), Buffer.alloc(MiB)]));
        await real(buffer, offset);
      };
      target.sync = async () => {
        writes.push('sync');
        await sync();
      };
    },
  });
  const last = writes.slice(writes.lastIndexOf('head') - 2);
  expect(last).toEqual(['sync', 'body', 'head', 'sync', 'sector 0', 'sync']);
  expect(writes.slice(0, writes.indexOf('body')).filter((what) => what === 'sync')).toHaveLength(1);
});

test('a write that is killed with -9 in its middle leaves both ends zero, and the next one succeeds', async () => {
  const disk = await makeDisk('file', { sizeBytes: 24 * MiB, fill: 0xff });
  const stalling = await httpSource((_, response) => {
    response.writeHead(200, { 'content-length': image.length });
    response.write(image.subarray(0, 14 * MiB));
  });
  open.push(stalling);
  const child = spawn(process.execPath, [writeProcess, stalling.url, disk.path, 'none', sha256(image)]);
  await expect
    .poll(async () => (await disk.content()).subarray(6 * MiB, 7 * MiB), { timeout: 15_000 })
    .toEqual(image.subarray(6 * MiB, 7 * MiB));
  child.kill('SIGKILL');
  await once(child, 'exit');
  expectUnbootable(await disk.content());
  await write({ served: image, disk });
  expect((await disk.content()).equals(image)).toBe(true);
});
