import type { Firmware } from './bootFiles.ts';

/** Drives that are tried, in the firmware's order. iPXE numbers whole disks from 0x80 under BIOS and UEFI alike. */
const drives = ['0x80', '0x81', '0x82', '0x83', '0x84', '0x85', '0x86', '0x87'];

/**
 * Boots the local disk: the first that has a boot loader. A plain `exit` ends in the firmware's menu on many UEFI
 * machines, and `exit 1` goes through every network entry before the disk: it comes last.
 */
export function diskScript(firmware: Extract<Firmware, 'bios' | 'uefi'>): string {
  return [
    '#!ipxe',
    `echo railhead: no boot entry, booting the local disk (${firmware})`,
    ...drives.map((drive) => `sanboot --no-describe --drive ${drive} ||`),
    'echo railhead: no disk boots, the firmware goes on',
    'exit 1',
    '',
  ].join('\n');
}
