import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { bcdHostIgnition } from '#central/userData/bcdHostIgnition.ts';
import { ignitionPlace, ignitionSeed, withCentreFiles } from '#ramdisk/seed/ignition.ts';
import { withMounted } from '#ramdisk/seed/mounted.ts';
import { sampleVariables } from '../../central/userData/samples.ts';
import { loopDisk, mayUseLoopDevices } from '../fakes/loopDisk.ts';

const MiB = 1024 * 1024;
const boot = { fileSystem: 'ext4', label: 'boot' };
const oem = { fileSystem: 'ext4', label: 'OEM' };
const centre = {
  url: 'https://cp.example.com:8443',
  joinEncryptionKey: { kty: 'OKP', crv: 'X25519', x: 'abc' },
} as const;

test('an Ignition document goes to the boot partition of Fedora CoreOS, else to the OEM one of Flatcar', () => {
  expect(ignitionPlace([oem, boot])).toEqual({ partition: boot, folder: 'ignition' });
  expect(ignitionPlace([{ fileSystem: 'vfat', label: 'EFI-SYSTEM' }, oem])).toEqual({
    partition: oem,
    folder: '',
  });
  expect(
    ignitionPlace([
      { fileSystem: 'btrfs', label: 'OEM' },
      { fileSystem: 'vfat', label: 'cidata' },
    ]),
  ).toBeUndefined();
});

test('what the ramdisk knows of the centre becomes files of the document, which keeps its own', () => {
  const document = JSON.parse(withCentreFiles(bcdHostIgnition(sampleVariables), centre));
  const text = (file: { contents: { source: string } }) =>
    decodeURIComponent(file.contents.source.replace('data:,', ''));
  const files = new Map(document.storage.files.map((file: { path: string }) => [file.path, file]));
  expect([...files.keys()]).toEqual([
    '/etc/hostname',
    '/etc/bcd/join-token',
    '/etc/bcd/config.toml',
    '/etc/bcd/join-encryption.jwk',
  ]);
  expect(text(files.get('/etc/bcd/config.toml') as never)).toBe(
    '[central]\nurl = "https://cp.example.com:8443"\n',
  );
  expect(JSON.parse(text(files.get('/etc/bcd/join-encryption.jwk') as never))).toEqual(
    centre.joinEncryptionKey,
  );
  expect(document.systemd.units).toHaveLength(2);
  const own = JSON.stringify({
    ignition: { version: '3.4.0' },
    storage: { files: [{ path: '/etc/bcd/config.toml', mode: 384 }] },
  });
  expect(JSON.parse(withCentreFiles(own, centre)).storage.files[0]).toEqual({
    path: '/etc/bcd/config.toml',
    mode: 384,
  });
});

const knowsExt4 = readFileSync('/proc/filesystems', 'utf8').includes('\text4\n');

test.runIf(mayUseLoopDevices && knowsExt4)('the document is on the boot partition', async () => {
  const disk = await loopDisk({ sizeBytes: 12 * MiB });
  try {
    execFileSync('mkfs.ext4', ['-q', '-L', 'boot', '-E', `offset=${MiB}`, disk.path, '8M']);
    await ignitionSeed('{"ignition":{"version":"3.4.0"}}', {}).install(disk.path, [
      { isEsp: false, offset: MiB, sizeBytes: 8 * MiB },
    ]);
    const read = (root: string) => readFile(path.join(root, 'ignition/config.ign'), 'utf8');
    const text = await withMounted(disk.path, 'ext4', read, [
      '-o',
      `loop,offset=${MiB},sizelimit=${8 * MiB}`,
    ]);
    expect(JSON.parse(text)).toEqual({ ignition: { version: '3.4.0' }, storage: { files: [] } });
  } finally {
    await disk.remove();
  }
});
