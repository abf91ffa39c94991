import { mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '#base/command.ts';
import type { EfiLoader } from '#contract/efiLoader.ts';

const mebibyte = 1024 * 1024;
const espMebibytes = 64;

/** What the disk's GRUB says when it runs. */
export const diskGreeting = 'rack: the loader of this disk runs';

/**
 * Makes a machine's disk one that starts where Secure Boot is on: its EFI system partition has shim and GRUB as a distribution signed them, where an
 * installed Debian has them, and no loader in the place that firmware looks in by itself. Returns what a deploy would have told of it.
 */
export async function makeSignedDisk(disk: string, shimDirectory: string): Promise<EfiLoader> {
  const espGuid = '5f4c1de8-2f4b-4c3a-9f6e-0d6f7a3b1c20';
  const scratch = await mkdtemp(path.join(tmpdir(), 'railhead-esp-'));
  try {
    const esp = await fatWith(scratch, {
      'EFI/debian/shimx64.efi': await readFile(path.join(shimDirectory, 'shimx64.efi')),
      'EFI/debian/grubx64.efi': await readFile(path.join(shimDirectory, 'grubx64.efi')),
      // Where GRUB for network boot looks on the partition that it was started from.
      'grub/grub.cfg': Buffer.from(`echo "${diskGreeting}"\nsleep 600\n`),
    });
    await run('sgdisk', ['-o', '-n', `1:2048:+${espMebibytes}M`, '-t', '1:ef00', '-u', `1:${espGuid}`, disk]);
    const file = await open(disk, 'r+');
    await file.write(await readFile(esp), 0, espMebibytes * mebibyte, mebibyte);
    await file.close();
  } finally {
    await rm(scratch, { recursive: true });
  }
  return { espGuid, path: '\\EFI\\debian\\shimx64.efi' };
}

async function fatWith(scratch: string, files: Readonly<Record<string, Buffer>>): Promise<string> {
  const [image, source] = [path.join(scratch, 'esp'), path.join(scratch, 'file')];
  await writeFile(image, '');
  await truncate(image, espMebibytes * mebibyte);
  await run('mkfs.vfat', ['-F', '32', image]);
  await run('mmd', ['-i', image, '::/EFI', '::/EFI/debian', '::/grub']);
  for (const [name, content] of Object.entries(files)) {
    await writeFile(source, content);
    await run('mcopy', ['-i', image, source, `::/${name}`]);
  }
  return image;
}
