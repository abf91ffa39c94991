import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { compress } from 'zstd-napi';
import { run } from '#base/command.ts';
import { sealText } from '#base/jwe.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import type { DeployImage } from '#contract/operations.ts';
import type { Disk } from '#ramdisk/disks/disk.ts';
import { deployTo } from '#ramdisk/steps/deployImage.ts';
import type { StepContext } from '#ramdisk/steps/index.ts';
import { fileDisk, kernelReadsGpt, loopDisk, mayUseLoopDevices, type TestDisk } from '../fakes/loopDisk.ts';
import { httpSource, serving } from '../fakes/source.ts';

const sealing = generateKeyPairSync('x25519');
const MiB = 1024 * 1024;
const open: Closable[] = [];
afterEach(() => closeAll(open.splice(0)));

const image = Buffer.concat([randomBytes(3 * MiB), Buffer.alloc(2 * MiB), randomBytes(MiB + 100)]);
const artifact = Buffer.from(compress(image));
const digest = createHash('sha256').update(artifact).digest('hex');

const input: DeployImage = {
  ref: 'os@1',
  digest,
  sizeBytes: artifact.length,
  format: 'raw',
  compression: 'zstd',
  sources: [],
  disk: { serial: 'LOOP' },
};

async function makeDisk(): Promise<TestDisk> {
  const disk = await loopDisk({ sizeBytes: 16 * MiB, fill: 0xff });
  open.push({ close: disk.remove });
  return disk;
}

const asListed = (disk: TestDisk, facts: Partial<Disk> = {}): Disk => ({
  name: path.basename(disk.path),
  path: disk.path,
  sizeBytes: 16 * MiB,
  logicalSectorSize: 512,
  serial: 'LOOP',
  rotational: false,
  removable: false,
  readOnly: false,
  usedBy: [],
  otherPaths: [],
  ...facts,
});

/** What the site has for the machine, by reference. */
const secrets = new Map<string, string>();

function offer(ref: string, sealed: string) {
  secrets.set(ref, sealed);
  const sha256 = createHash('sha256').update(sealed).digest('hex');
  return { kind: 'cloud-init' as const, ref, sha256 };
}

function contextFor(imagesUrl: string) {
  const phases: string[] = [];
  const context: StepContext = {
    operationId: 'op_1',
    nodeId: 'node_1',
    sealing: sealing.privateKey,
    secret: async (ref) => secrets.get(ref) ?? '',
    siteImage: async (digest) => ({ url: `${imagesUrl}/sha256/${digest}` }),
    ca: '',
    centre: {},
    deadline: Date.now() + 10_000,
    progress: (phase) => phases.push(phase),
    say: () => {},
    signal: AbortSignal.timeout(15_000),
  };
  return { phases, context };
}

const site = async (...listener: Parameters<typeof httpSource>) => {
  const source = await httpSource(...listener);
  open.push(source);
  return { source, imagesUrl: source.url.replace(/image$/, 'images') };
};

test.runIf(mayUseLoopDevices)('the image is on the disk and the result says what was written', async () => {
  const disk = await makeDisk();
  let asked = '';
  const { imagesUrl } = await site((request, response) => {
    asked = request.url ?? '';
    serving(artifact)(request, response);
  });
  const { context, phases } = contextFor(imagesUrl);
  const { result } = await deployTo(async () => [asListed(disk)], input, context);
  expect(asked).toBe(`/images/sha256/${digest}`);
  expect(result).toMatchObject({
    digest,
    device: disk.path,
    artifactBytes: artifact.length,
    diskBytes: image.length,
    source: 'site',
  });
  expect((await disk.content()).subarray(0, image.length).equals(image)).toBe(true);
  expect(new Set(phases)).toEqual(new Set(['clearing the disk', 'writing', 'finishing', 'installing']));
});

test.runIf(mayUseLoopDevices)('bytes that arrive wrong once are read again from the start', async () => {
  const disk = await makeDisk();
  let requests = 0;
  const { imagesUrl } = await site((request, response) => {
    requests += 1;
    const spoilt = Buffer.from(artifact);
    if (requests === 1) spoilt[MiB] = (spoilt[MiB] ?? 0) ^ 1;
    serving(spoilt)(request, response);
  });
  const { context } = contextFor(imagesUrl);
  await deployTo(async () => [asListed(disk)], input, context);
  expect(requests).toBe(2);
  expect((await disk.content()).subarray(0, image.length).equals(image)).toBe(true);
});

test.runIf(mayUseLoopDevices)(
  "the site's failed pull is told at once and the disk is not touched",
  async () => {
    const disk = await makeDisk();
    const error = {
      code: 'DRIVER_ERROR',
      message: 'the pull failed',
      details: { reason: 'digest-mismatch' },
    };
    const { imagesUrl, source } = await site((_, response) =>
      response.writeHead(502).end(JSON.stringify({ error })),
    );
    const { context } = contextFor(imagesUrl);
    await expect(deployTo(async () => [asListed(disk)], input, context)).rejects.toMatchObject(error);
    expect(source.ranges).toHaveLength(1);
    expect((await disk.content()).equals(Buffer.alloc(16 * MiB, 0xff))).toBe(true);
  },
);

test.runIf(mayUseLoopDevices)('while the cache pulls, progress says so', async () => {
  const disk = await makeDisk();
  let requests = 0;
  const { imagesUrl } = await site((request, response) => {
    requests += 1;
    if (requests === 1) response.writeHead(503, { 'retry-after': '0' }).end();
    else serving(artifact)(request, response);
  });
  const { context, phases } = contextFor(imagesUrl);
  await deployTo(async () => [asListed(disk)], input, context);
  expect(phases[0]).toBe("waiting for the site's cache");
});

test('an ambiguous disk is refused before anything is fetched', async () => {
  const { imagesUrl, source } = await site(serving(artifact));
  const { context } = contextFor(imagesUrl);
  const disks = ['sda', 'sdb'].map((name) =>
    asListed({ path: `/dev/${name}` } as TestDisk, { sizeBytes: 2 ** 33 }),
  );
  const { disk: _, ...unhinted } = input;
  await expect(deployTo(async () => disks, unhinted, context)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: { reason: 'ambiguous' },
  });
  expect(source.ranges).toEqual([]);
});

test.runIf(mayUseLoopDevices)('the disk is looked at again right before it is opened', async () => {
  const disk = await makeDisk();
  const { imagesUrl } = await site(serving(artifact));
  const { context } = contextFor(imagesUrl);
  const looks = [[asListed(disk)], [asListed(disk, { usedBy: ['loop0 held by md0'] })]];
  const disksNow = async () => looks.shift() ?? [];
  await expect(deployTo(disksNow, input, context)).rejects.toMatchObject({ details: { reason: 'unfit' } });
  expect((await disk.content()).equals(Buffer.alloc(16 * MiB, 0xff))).toBe(true);
});

test.each([
  [{ format: 'qcow2' as const }, 'format'],
  [{ format: 'iso' as const }, 'format'],
])('%j is not supported yet and refused first', async (change, field) => {
  const { context } = contextFor('http://127.0.0.1:9/images');
  const deploying = deployTo(
    () => expect.unreachable('no disk is looked at'),
    { ...input, ...change },
    context,
  );
  await expect(deploying).rejects.toMatchObject({ code: 'UNSUPPORTED', details: { path: field } });
});

const espGuid = '0b1c2d3e-4f50-8123-9abc-def012345678';

/** A disk image of 8 MiB with a GPT whose only partition is an ESP with this loader. */
async function efiImage(loader: string): Promise<{ content: Buffer; hasPartitions: boolean }> {
  const { file, content, remove } = await fileDisk({ sizeBytes: 8 * MiB });
  await run('sgdisk', ['-n', '1:2048:+6M', '-t', '1:ef00', '-u', `1:${espGuid}`, file]);
  await run('mkfs.vfat', ['--offset', '2048', '-n', 'ESP', file, `${6 * 1024}`]);
  const parents = path.posix
    .dirname(loader)
    .split('/')
    .slice(1)
    .map((_, depth, all) => `::/${all.slice(0, depth + 1).join('/')}`);
  await run('mmd', ['-i', `${file}@@1M`, ...parents]);
  await run('mcopy', ['-i', `${file}@@1M`, '/dev/null', `::${loader}`]);
  const made = { content: await content(), hasPartitions: mayUseLoopDevices && (await kernelReadsGpt(file)) };
  await remove();
  return made;
}

const knowsFat = readFileSync('/proc/filesystems', 'utf8').includes('\tvfat\n');
const bootable = await efiImage('/EFI/debian/shimx64.efi');

test.runIf(mayUseLoopDevices && knowsFat && bootable.hasPartitions)(
  'the result names the ESP and its loader, whichever firmware runs',
  async () => {
    const raw = bootable.content;
    const disk = await makeDisk();
    const { imagesUrl } = await site(serving(raw));
    const { context } = contextFor(imagesUrl);
    const plain = {
      ...input,
      compression: 'none' as const,
      sizeBytes: raw.length,
      digest: createHash('sha256').update(raw).digest('hex'),
    };
    const { result } = await deployTo(async () => [asListed(disk)], plain, context);
    expect(result.efiLoader).toEqual({ espGuid, path: '\\EFI\\debian\\shimx64.efi' });
  },
);

const userData = offer(
  'secret://user-data/1',
  await sealText('railhead-user-data', '#cloud-config\n', sealing.publicKey),
);
const noPlace = { code: 'UNSUPPORTED', details: { reason: 'no-seed-partition' } };

test.runIf(mayUseLoopDevices)(
  'an image whose table has no place for user data is refused and the disk not touched',
  async () => {
    const disk = await makeDisk();
    const { imagesUrl } = await site(serving(artifact));
    const { context } = contextFor(imagesUrl);
    const deploying = deployTo(async () => [asListed(disk)], { ...input, userData }, context);
    await expect(deploying).rejects.toMatchObject(noPlace);
    expect((await disk.content()).equals(Buffer.alloc(16 * MiB, 0xff))).toBe(true);
  },
);

test.runIf(mayUseLoopDevices)(
  'a disk whose user data cannot be put in does not become bootable',
  async () => {
    const { content } = await efiImage('/EFI/debian/shimx64.efi');
    content.fill(0, MiB, 2 * MiB);
    const disk = await makeDisk();
    const { imagesUrl } = await site(serving(content));
    const { context } = contextFor(imagesUrl);
    const plain = {
      ...input,
      ...{ compression: 'none' as const, sizeBytes: content.length, userData },
      digest: createHash('sha256').update(content).digest('hex'),
    };
    await expect(deployTo(async () => [asListed(disk)], plain, context)).rejects.toMatchObject(noPlace);
    const left = await disk.content();
    for (const edge of [left.subarray(0, MiB), left.subarray(-MiB)])
      expect(edge.equals(Buffer.alloc(MiB))).toBe(true);
  },
);

test('user data that was sealed to another boot is refused before anything is looked at', async () => {
  const { publicKey } = generateKeyPairSync('x25519');
  const sealed = await sealText('railhead-user-data', '#cloud-config\n', publicKey);
  const { context } = contextFor('http://127.0.0.1:9/images');
  const other = { ...input, userData: offer('secret://user-data/2', sealed) };
  const deploying = deployTo(() => expect.unreachable('no disk is looked at'), other, context);
  await expect(deploying).rejects.toMatchObject({ code: 'INVALID_STATE', details: { reason: 'sealed' } });
});
