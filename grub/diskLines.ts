import type { EfiLoader } from '#contract/efiLoader.ts';
import { quoted, variable } from './escape.ts';

/** Where a disk's boot loader lies when no firmware entry names it (UEFI 2.10 §3.5.1.1). */
const removablePath = { x86_64: '/EFI/BOOT/BOOTX64.EFI', aarch64: '/EFI/BOOT/BOOTAA64.EFI' } as const;

/** In seconds: long enough to read why, short enough for a machine that waits for its boot entry. */
const restartAfter = 60;

/**
 * Starts the local disk's boot loader: the deployed one's, if it is known, on whichever disk it is now; else that of the first EFI system
 * partition that has one. Firmware verifies it, as it verifies everything that is started. What does not start is passed over. With nothing
 * left the machine restarts, by its firmware's boot order, unless somebody presses ESC: `exit 1` of Debian's GRUB 2.12 is a success to the
 * firmware, which then stands in its menu for good (seen: OVMF) in place of going on to the next entry.
 * @throws RangeError when the loader could not stand in a script
 */
export function diskLines(architecture: keyof typeof removablePath, loader?: EfiLoader): string[] {
  return [
    ...(loader === undefined ? [] : deployedDisk(loader)),
    ...eachPartition([
      `if [ -e "${variable('esp')}${removablePath[architecture]}" ]; then`,
      ...start(removablePath[architecture]),
      'fi',
    ]),
    `echo "railhead: no disk boots, restarting in ${restartAfter} s (ESC: the menu)"`,
    `if sleep --interruptible ${restartAfter}; then reboot; fi`,
  ];
}

function deployedDisk({ espGuid, path }: EfiLoader): string[] {
  const file = path.replaceAll('\\', '/');
  return eachPartition([
    `probe --set=guid --part-uuid "${variable('esp')}"`,
    `if [ "${variable('guid')}" = ${quoted(espGuid.toLowerCase())} ]; then`,
    ...start(file),
    'fi',
  ]);
}

function eachPartition(lines: readonly string[]): string[] {
  return ['for esp in (hd*,gpt*); do', ...lines.map((line) => `  ${line}`), 'done'];
}

/** Debian's GRUB tells what it starts that it lies on `root`, whatever the file's name says: a shim would look for its GRUB on the network (seen). */
function start(file: string): string[] {
  return [
    `  echo "railhead: starting ${variable('esp')}"${quoted(file)}`,
    `  set root="${variable('esp')}"`,
    `  if chainloader ${quoted(file)}; then boot; fi`,
  ];
}
