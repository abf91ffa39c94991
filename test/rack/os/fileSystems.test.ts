import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeDisk, smallestDisk } from '#rack/os/disk.ts';
import { makeExt4 } from '#rack/os/ext4.ts';
import { diskIdentity, fatUuid } from '#rack/os/identity.ts';
import { completeTree, directory, file, symlink } from '#rack/os/tree.ts';

const directoryOfTest = mkdtempSync(path.join(tmpdir(), 'railhead-os-layout-'));
const at = (name: string): string => path.join(directoryOfTest, name);
const identity = diskIdentity('test');
afterAll(() => rmSync(directoryOfTest, { recursive: true }));

const tree = completeTree([
  file('etc/hostname', 'localhost\n'),
  file('sbin/init', '#!/bin/sh\n', 0o755),
  symlink('lib64', 'lib'),
  directory('tmp', 0o1777),
]);

async function makeRoot(name: string): Promise<string> {
  const options = { sizeBytes: 16 * 1024 * 1024, uuid: identity.rootFileSystem, label: 'root', tree };
  await makeExt4({ ...options, file: at(name), scratch: at(`${name}.scratch`) });
  return at(name);
}

function startOf(disk: string): Buffer {
  const bytes = Buffer.alloc(2 * 1024 ** 2);
  const descriptor = openSync(disk, 'r');
  readSync(descriptor, bytes);
  closeSync(descriptor);
  return bytes;
}

function debugfs(command: string, image: string): string {
  return execFileSync('debugfs', ['-R', command, image], { encoding: 'utf8', stdio: 'pipe' });
}

test('the root file system is sound and holds the tree with its modes, owned by root', async () => {
  const image = await makeRoot('root.ext4');
  execFileSync('e2fsck', ['-fn', image], { stdio: 'pipe' });
  expect(debugfs('cat /etc/hostname', image)).toBe('localhost\n');
  expect(debugfs('ls -p /', image)).toMatch(/\/041777\/0\/0\/tmp\//);
  expect(debugfs('ls -p /sbin', image)).toMatch(/\/100755\/0\/0\/init\//);
  expect(debugfs('stat /lib64', image)).toMatch(/Fast link dest: "lib"/);
});

test('the same tree gives the same file system, whenever and wherever it is made', async () => {
  const first = await makeRoot('first.ext4');
  const second = await makeRoot('second.ext4');
  expect(readFileSync(first).equals(readFileSync(second))).toBe(true);
});

test.each([0, 512, 700])(
  'the partition table holds on a disk %i bytes larger than the smallest',
  async (more) => {
    writeFileSync(at('esp'), Buffer.alloc(1024, 'e'));
    writeFileSync(at('root'), Buffer.alloc(1024, 'r'));
    const disk = at(`disk-${more}`);
    const parts = { esp: at('esp'), root: at('root'), bootCode: Buffer.alloc(440, 0x90) };
    const sizeBytes = smallestDisk('plain') + more;
    await makeDisk({ ...parts, file: disk, sizeBytes, identity, kind: 'plain' });
    expect(statSync(disk).size).toBe(sizeBytes);
    const image = startOf(disk);
    expect(image.subarray(0, 440).equals(parts.bootCode)).toBe(true);
    expect(image.readUInt16LE(510)).toBe(0xaa55);
    expect(image.toString('latin1', 1024 ** 2, 1024 ** 2 + 1)).toBe('e');
    const verdict = execFileSync('sgdisk', ['-v', disk], { encoding: 'utf8', stdio: 'pipe' });
    expect(verdict).toContain('No problems found');
    const esp = execFileSync('sgdisk', ['-i', '1', disk], { encoding: 'utf8', stdio: 'pipe' });
    expect(esp).toContain(identity.espPartition.toUpperCase());
    expect(esp).toContain('Attribute flags: 0000000000000004');
  },
);

test('identifiers differ by input and have the forms that their readers expect', () => {
  expect(diskIdentity('a')).not.toEqual(diskIdentity('b'));
  for (const uuid of [identity.disk, identity.espPartition, identity.rootPartition, identity.rootFileSystem])
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(fatUuid('59cdbd38')).toBe('59CD-BD38');
});
