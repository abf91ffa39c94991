import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { peSections, sectionData } from '#base/pe.ts';
import { buildBase, type RamdiskBase } from '#ramdisk/image/base.ts';
import { personalise } from '#ramdisk/image/build.ts';

const cacheDirectory = path.resolve('.cache');
const trust = { ca: '-----BEGIN CERTIFICATE-----', signingKey: { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' } };
let directory: string;
let bcd: { file: string; digest: string };
let base: RamdiskBase;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'ramdisk-'));
  bcd = await programOf('#!/bin/sh\necho an agent\n');
  base = { ...(await buildBase({ bcd, cacheDirectory })), directory };
}, 300_000);

afterAll(() => rm(directory, { recursive: true, force: true }));

test('one unified kernel image holds kernel, initramfs and what they are', async () => {
  const image = await readFile((await personalise(base, {})).file);
  const names = peSections(image).map(({ name }) => name);
  expect(names.slice(-4)).toEqual(['.osrel', '.uname', '.linux', '.initrd']);
  expect(sectionData(image, '.uname')?.toString()).toMatch(/^6\.12\..*-amd64$/);
  expect(sectionData(image, '.linux')?.toString('latin1', 0x202, 0x206)).toBe('HdrS');
});

test('the boot loader’s command line counts unless one is embedded', async () => {
  const plain = await readFile((await personalise(base, {})).file);
  expect(sectionData(plain, '.cmdline')).toBeUndefined();
  const fixed = await readFile((await personalise(base, { commandLine: 'console=ttyS1' })).file);
  expect(sectionData(fixed, '.cmdline')?.toString()).toBe('console=ttyS1');
});

test('a centre’s own image adds its trust file to the same base, within two seconds', async () => {
  const start = performance.now();
  const own = await personalise(base, { trust });
  expect(performance.now() - start).toBeLessThan(2000);
  const initrd = sectionData(await readFile(own.file), '.initrd')!;
  expect(initrd.subarray(0, base.initrd.length).equals(base.initrd)).toBe(true);
  const added = initrd.subarray(base.initrd.length).toString('latin1');
  expect(added).toContain('etc/railhead/trust.json');
  expect(added).toContain(JSON.stringify(trust));
});

test('a shell on the console is in the image only when asked for', async () => {
  const marker = 'etc/railhead/console-shell';
  const withShell = sectionData(
    await readFile((await personalise(base, { consoleShell: true })).file),
    '.initrd',
  )!;
  expect(withShell.subarray(base.initrd.length).includes(marker)).toBe(true);
  expect((await personalise(base, { trust })).digest).not.toBe(
    (await personalise(base, { trust, consoleShell: true })).digest,
  );
});

test('the same inputs give the same digest, and the digest is that of the file', async () => {
  const first = await personalise(base, { trust });
  await rm(first.file);
  const second = await personalise(base, { trust });
  expect(second).toEqual(first);
  const digest = createHash('sha256')
    .update(await readFile(second.file))
    .digest('hex');
  expect(digest).toBe(second.digest);
  expect((await stat(second.file)).size).toBe(second.sizeBytes);
});

test('everything that decides the bytes is listed with a digest', async () => {
  const { inputs } = await personalise(base, { trust });
  const names = inputs.map(({ name }) => name);
  for (const name of [
    'nvme-cli',
    'systemd-boot-efi',
    'build tool squashfs-tools',
    'bcd',
    'ramdisk/image',
    'personality',
  ])
    expect(names).toContain(name);
  expect(names.some((name) => /^linux-image-6\.12\..*-amd64$/.test(name))).toBe(true);
  expect(inputs.every(({ digest }) => /^[0-9a-f]{64}$/.test(digest))).toBe(true);
});

test('another agent changes its own layer alone', async () => {
  const other = await buildBase({ bcd: await programOf('#!/bin/sh\necho another\n'), cacheDirectory });
  const shared = commonPrefix(base.initrd, other.initrd);
  expect(shared).toBeGreaterThan(30_000_000);
  expect(other.linux.equals(base.linux)).toBe(true);
}, 60_000);

/** Half a minute of packing: RAILHEAD_SLOW=1 vitest run test/ramdisk/image */
test.runIf(process.env.RAILHEAD_SLOW)(
  'built from nothing in another place, by someone with another umask, it has the same bytes',
  async () => {
    const elsewhere = path.join(directory, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(path.join(cacheDirectory, 'debian'), path.join(elsewhere, 'debian'));
    const umask = process.umask(0o077);
    const again = await buildBase({ bcd, cacheDirectory: elsewhere }).finally(() => process.umask(umask));
    expect(again.inputs).toEqual(base.inputs);
    expect((await personalise({ ...again, directory: elsewhere }, { trust })).digest).toBe(
      (await personalise(base, { trust })).digest,
    );
  },
  300_000,
);

/** Downloads Debian's arm64 packages, 130 MB, the first time. */
test.runIf(process.env.RAILHEAD_SLOW)(
  'for aarch64 it holds that architecture’s EFI stub, kernel and programs',
  async () => {
    const program = await programOf('#!/bin/sh\necho an agent for ARM\n');
    const arm = await buildBase({ bcd: program, architecture: 'aarch64', cacheDirectory });
    const image = await readFile((await personalise({ ...arm, directory }, {})).file);
    expect(image.readUInt16LE(image.readUInt32LE(60) + 4)).toBe(0xaa64);
    expect(sectionData(image, '.uname')?.toString()).toMatch(/^6\.12\..*-arm64$/);
    expect(sectionData(image, '.linux')?.toString('latin1', 0x38, 0x3c)).toBe('ARMd');
    expect(arm.inputs.some(({ name }) => name.endsWith('-amd64') && name.startsWith('linux-image'))).toBe(
      false,
    );
  },
  300_000,
);

async function programOf(text: string): Promise<{ file: string; digest: string }> {
  const digest = createHash('sha256').update(text).digest('hex');
  const file = path.join(directory, digest);
  await writeFile(file, text, { mode: 0o755 });
  return { file, digest };
}

function commonPrefix(a: Buffer, b: Buffer): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
