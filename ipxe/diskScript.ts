import type { EfiLoader } from '#contract/efiLoader.ts';
import type { Firmware } from './bootFiles.ts';
import { efiPath, scriptWord } from './escape.ts';

/** Drives that are tried, in the firmware's order. iPXE numbers whole disks from 0x80 under BIOS and UEFI alike. */
const drives = ['0x80', '0x81', '0x82', '0x83', '0x84', '0x85', '0x86', '0x87'];

/**
 * Boots the local disk. UEFI: the deployed one's boot loader, if it is known, on whichever drive it is now. Then, and under
 * BIOS at once, the first drive that has a boot loader. A plain `exit` ends in the firmware's menu on many UEFI machines, and
 * `exit 1` goes through every network entry before the disk: it comes last.
 * @throws RangeError when the loader could not stand in a script
 */
export function diskScript(firmware: Extract<Firmware, 'bios' | 'uefi'>, loader?: EfiLoader): string {
  return [
    '#!ipxe',
    `echo railhead: no boot entry, booting the local disk (${firmware})`,
    ...(firmware === 'uefi' && loader !== undefined ? deployedDisk(loader) : []),
    ...drives.map((drive) => `sanboot --no-describe --drive ${drive} ||`),
    'echo railhead: no disk boots, the firmware goes on',
    'exit 1',
    '',
  ].join('\n');
}

/**
 * Drive 0 stands for any. An iPXE that does not know `--uuid` refuses the line, which is a failure like another: the next
 * line follows.
 */
function deployedDisk({ espGuid, path }: EfiLoader): string[] {
  return [
    `echo railhead: the deployed disk has the EFI system partition ${scriptWord(espGuid)}`,
    `sanboot --no-describe --drive 0 --uuid ${scriptWord(espGuid)} --filename ${efiPath(path)} ||`,
  ];
}
