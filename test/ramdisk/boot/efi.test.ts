import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ourEntries } from '#ramdisk/boot/efiEntry.ts';
import { efiLoaderOf, findDiskLoader, findLoader } from '#ramdisk/boot/loader.ts';

let esp: string;
beforeEach(async () => {
  esp = await mkdtemp(path.join(tmpdir(), 'railhead-esp-'));
});
afterEach(() => rm(esp, { recursive: true }));

async function files(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(path.dirname(path.join(esp, name)), { recursive: true });
    await writeFile(path.join(esp, name), '');
  }
}

test('the fallback loader of the architecture is found, in whatever case it is written', async () => {
  await files('EFI/BOOT/BOOTX64.EFI', 'EFI/BOOT/BOOTAA64.EFI', 'EFI/debian/shimx64.efi');
  expect(await findLoader(esp, 'x64')).toBe('\\EFI\\BOOT\\BOOTX64.EFI');
  expect(await findLoader(esp, 'arm64')).toBe('\\EFI\\BOOT\\BOOTAA64.EFI');
  await rm(path.join(esp, 'EFI'), { recursive: true });
  await files('efi/boot/bootx64.efi');
  expect(await findLoader(esp, 'x64')).toBe('\\efi\\boot\\bootx64.efi');
});

test("without it a distribution's own is found, shim before grub", async () => {
  await files('EFI/debian/grubx64.efi', 'EFI/debian/shimx64.efi', 'EFI/debian/mmx64.efi');
  expect(await findLoader(esp, 'x64')).toBe('\\EFI\\debian\\shimx64.efi');
});

test('an ESP without a loader has none', async () => {
  await files('railhead/user-data', 'EFI/debian/mmx64.efi');
  expect(await findLoader(esp, 'x64')).toBeUndefined();
});

test('a disk is found by the GUID of its ESP, which only a GPT has', () => {
  const partition = { path: '/dev/sda1', number: 1, fileSystem: 'vfat', isEsp: true };
  const found = { esp: partition, path: '\\EFI\\BOOT\\BOOTX64.EFI' };
  const espGuid = '0b1c2d3e-4f50-8123-9abc-def012345678';
  expect(efiLoaderOf({ ...found, esp: { ...partition, guid: espGuid } })).toEqual({
    espGuid,
    path: found.path,
  });
  expect(efiLoaderOf(found)).toBeUndefined();
  expect(efiLoaderOf({ missing: 'no ESP' })).toBeUndefined();
});

test('a disk without an ESP has no loader, and one whose ESP cannot be mounted says why', async () => {
  const root = { path: '/dev/sda2', number: 2, fileSystem: 'ext4', isEsp: false };
  expect(await findDiskLoader([root])).toEqual({ missing: 'the image has no EFI system partition' });
  const damaged = { path: '/dev/null', number: 1, fileSystem: 'vfat', isEsp: true };
  expect(await findDiskLoader([root, damaged])).toEqual({ missing: expect.stringContaining('mount') });
});

test('our boot entries are told from others, in what both versions of efibootmgr print', () => {
  const seventeen = [
    'BootCurrent: 0001',
    'Timeout: 0 seconds',
    'BootOrder: 0003,0001,0000',
    'Boot0000* UiApp\tFvVol(7cb8bdc9-f8eb-4f34-aaea-3ee4af6516a1)',
    'Boot0001* UEFI PXEv4 (MAC:525400770041)\tPciRoot(0x0)/Pci(0x2,0x0)/MAC(525400770041,1)/IPv4(0.0.0.0)',
    'Boot0003* railhead\tHD(1,GPT,5c1b0d4b,0x800,0x20000)/File(\\EFI\\BOOT\\BOOTX64.EFI)',
    'Boot000A  railhead\tHD(1,GPT,5c1b0d4c,0x800,0x20000)/File(\\EFI\\BOOT\\BOOTX64.EFI)',
    'Boot000B* railhead rescue\tHD(1,GPT,5c1b0d4c)',
  ].join('\n');
  expect(ourEntries(seventeen)).toEqual([{ number: '0003' }, { number: '000A' }]);
  expect(ourEntries('BootOrder: 0003\nBoot0003* railhead\n')).toEqual([{ number: '0003' }]);
  expect(ourEntries('')).toEqual([]);
});
