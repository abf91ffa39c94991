import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sealText } from '#base/jwe.ts';
import { withMounted } from '#ramdisk/seed/mounted.ts';
import { type Partition, readProbe } from '#ramdisk/seed/partitions.ts';
import { talosSeed } from '#ramdisk/seed/talos.ts';
import {
  cidataPlace,
  noCloudFiles,
  openUserData,
  seedOf,
  seedPlace,
  writeSeed,
} from '#ramdisk/seed/userData.ts';
import { hostVendorData } from '#ramdisk/seed/vendorData.ts';
import { fileDisk, loopDisk, mayUseLoopDevices } from '../fakes/loopDisk.ts';

const MiB = 1024 * 1024;
const root = await mkdtemp(path.join(tmpdir(), 'railhead-seed-'));
afterAll(() => rm(root, { recursive: true }));

const esp: Partition = { path: '/dev/sda1', number: 1, fileSystem: 'vfat', label: 'ESP', isEsp: true };
const cidata: Partition = { path: '/dev/sda3', number: 3, fileSystem: 'vfat', label: 'CIDATA', isEsp: false };
const ext4: Partition = { path: '/dev/sda2', number: 2, fileSystem: 'ext4', label: 'cidata', isEsp: false };

test('a FAT partition labelled cidata is the place, in either case of letters', () => {
  expect(seedPlace([esp, ext4, cidata])).toEqual({ partition: cidata, folder: '' });
  const lower = { ...cidata, label: 'cidata' };
  expect(seedPlace([esp, lower])).toEqual({ partition: lower, folder: '' });
});

test('else the folder railhead of the EFI system partition is', () => {
  expect(seedPlace([ext4, esp])).toEqual({ partition: esp, folder: 'railhead' });
});

const refused = { code: 'UNSUPPORTED', details: expect.objectContaining({ reason: 'no-seed-partition' }) };

const files = (userData: string, instanceId = 'i-1') => ({ userData, vendorData: '#!/bin/sh\n', instanceId });

test('an image without partitions is refused before its disk is touched', () => {
  const seed = seedOf(files('#cloud-config'));
  expect(() => seed.check([])).toThrow(expect.objectContaining(refused));
  expect(() => seed.check([{ isEsp: false, offset: MiB, sizeBytes: MiB }])).not.toThrow();
});

test('an image whose partitions are no place for it is refused when they are known', async () => {
  const disk = await fileDisk({ sizeBytes: 4 * MiB });
  const installing = seedOf(files('#cloud-config')).install(disk.path, [
    { isEsp: true, offset: MiB, sizeBytes: MiB },
  ]);
  await expect(installing).rejects.toMatchObject(refused);
  await disk.remove();
});

const sealing = generateKeyPairSync('x25519');
const sealTo = (key = sealing.publicKey, typ = 'railhead-user-data') => sealText(typ, '#cloud-config', key);

/** What an operation says of user data, and the site that has it. */
function offered(sealed: string) {
  const sha256 = createHash('sha256').update(sealed).digest('hex');
  const userData = { kind: 'cloud-init' as const, ref: 'secret://user-data/wf_1/ev_1', sha256 };
  return { userData, parts: { sealing: sealing.privateKey, secret: async () => sealed } };
}

test('user data is opened with the key that it was sealed to', async () => {
  const { userData, parts } = offered(await sealTo());
  expect(await openUserData(userData, parts)).toBe('#cloud-config');
});

test.each([
  ['to another key', () => sealTo(generateKeyPairSync('x25519').publicKey)],
  ['as something else', () => sealTo(sealing.publicKey, 'railhead-other')],
  ['not at all', async () => '#cloud-config'],
])('user data that is sealed %s is refused', async (_, seal) => {
  const { userData, parts } = offered(await seal());
  const opening = openUserData(userData, parts);
  await expect(opening).rejects.toMatchObject({ code: 'INVALID_STATE', details: { reason: 'sealed' } });
});

test('user data that the site put in the place of what the centre sealed is refused', async () => {
  const { userData } = offered(await sealTo());
  const { parts } = offered(await sealTo());
  await expect(openUserData(userData, parts)).rejects.toMatchObject({
    code: 'INVALID_STATE',
    details: { reason: 'sealed' },
  });
});

test('a Talos configuration goes to the cidata partition alone', async () => {
  expect(cidataPlace([esp, ext4, cidata])).toEqual({ partition: cidata, folder: '' });
  expect(cidataPlace([esp, ext4])).toBeUndefined();
  expect(() => talosSeed('machine: {}', 'node_1-op_1').check([])).toThrow(expect.objectContaining(refused));
});

test('what blkid prints is read', () => {
  const gpt =
    'DEVNAME=/dev/sda1\nLABEL_FATBOOT=ESP\nLABEL=ESP\nTYPE=vfat\nPART_ENTRY_TYPE=c12a7328-f81f-11d2-ba4b-00a0c93ec93b\nPART_ENTRY_NUMBER=1\n';
  expect(readProbe('/dev/sda1', gpt)).toEqual(esp);
  expect(readProbe('/dev/sda1', 'TYPE=vfat\nLABEL=my\\ disk\nPART_ENTRY_TYPE=0xef\n')).toMatchObject({
    isEsp: true,
    label: 'my disk',
  });
  const guid = '0b1c2d3e-4f50-8123-9abc-def012345678';
  const entry = `PART_ENTRY_SCHEME=gpt\nPART_ENTRY_UUID=${guid.toUpperCase()}\n`;
  expect(readProbe('/dev/sda1', gpt + entry)).toEqual({ ...esp, guid });
  expect(readProbe('/dev/sda1', 'PART_ENTRY_SCHEME=dos\nPART_ENTRY_UUID=5c1b0d4b-01\n')).not.toHaveProperty(
    'guid',
  );
  expect(readProbe('/dev/nvme0n1p15', '')).toEqual({ path: '/dev/nvme0n1p15', number: 15, isEsp: false });
});

const joinEncryptionKey = { kty: 'OKP', crv: 'X25519', x: 'abc' } as const;

test('the vendor data leaves where the centre is, and its pinned key, in the OS', async () => {
  const directory = await mkdtemp(path.join(root, 'etc-'));
  const script = hostVendorData({ url: 'https://centre:8443', joinEncryptionKey });
  execFileSync('sh', { input: script.replaceAll('/etc/bcd', directory) });
  expect(await readFile(path.join(directory, 'config.toml'), 'utf8')).toBe(
    '[central]\nurl = "https://centre:8443"\n',
  );
  const key = JSON.parse(await readFile(path.join(directory, 'join-encryption.jwk'), 'utf8'));
  expect(key).toEqual(joinEncryptionKey);
});

test('the vendor data keeps what the image brought itself', async () => {
  const directory = await mkdtemp(path.join(root, 'etc-'));
  await writeFile(path.join(directory, 'config.toml'), 'mine');
  const script = hostVendorData({ url: 'https://centre:8443' });
  execFileSync('sh', { input: script.replaceAll('/etc/bcd', directory) });
  expect(await readFile(path.join(directory, 'config.toml'), 'utf8')).toBe('mine');
  expect(await readdir(directory)).toEqual(['config.toml']);
});

test('a seed is three files, and a new one replaces an old one', async () => {
  const directory = path.join(root, 'railhead');
  await writeSeed(directory, noCloudFiles(files('#cloud-config\nhostname: first\n', 'node_a-op_a')));
  await writeSeed(directory, noCloudFiles(files('#cloud-config\nhostname: second\n', 'node_a-op_b')));
  expect(await readFile(path.join(directory, 'user-data'), 'utf8')).toBe('#cloud-config\nhostname: second\n');
  expect(await readFile(path.join(directory, 'meta-data'), 'utf8')).toBe('instance-id: node_a-op_b\n');
  expect(await readdir(directory)).toHaveLength(3);
});

const knows = (fileSystem: string) => readFileSync('/proc/filesystems', 'utf8').includes(`\t${fileSystem}\n`);
const leftMounts = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('railhead-mount-'));

test.runIf(mayUseLoopDevices && knows('ext4'))('a mount is gone after its use, failed or not', async () => {
  const disk = await loopDisk({ sizeBytes: 8 * 1024 * 1024 });
  try {
    execFileSync('mkfs.ext4', ['-q', disk.path]);
    await withMounted(disk.path, 'ext4', (directory) =>
      writeSeed(directory, noCloudFiles(files('document'))),
    );
    const failing = withMounted(disk.path, 'ext4', async (directory) => {
      expect(await readFile(path.join(directory, 'user-data'), 'utf8')).toBe('document');
      throw new Error('the use failed');
    });
    await expect(failing).rejects.toThrow('the use failed');
    await expect(withMounted(disk.path, 'xfs', async () => {})).rejects.toThrow('mount');
  } finally {
    await disk.remove();
  }
  expect(await leftMounts()).toEqual([]);
});

test.runIf(mayUseLoopDevices && knows('vfat'))('the documents are on the FAT partition', async () => {
  const disk = await loopDisk({ sizeBytes: 8 * 1024 * 1024 });
  try {
    execFileSync('mkfs.vfat', ['-n', 'ESP', '--offset', '2048', disk.path, `${6 * 1024}`]);
    const volume = { isEsp: true, offset: MiB, sizeBytes: 6 * MiB };
    await seedOf(files('#cloud-config\n')).install(disk.path, [volume]);
    const text = execFileSync('mtype', ['-i', `${disk.file}@@1M`, '::/railhead/user-data'], {
      encoding: 'utf8',
    });
    expect(text.trim()).toBe('#cloud-config');
  } finally {
    await disk.remove();
  }
});
