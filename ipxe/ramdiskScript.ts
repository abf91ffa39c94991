import { scriptWord } from './escape.ts';
import { retried } from './retry.ts';

export interface RamdiskScript {
  firmware: 'bios' | 'uefi';
  /** `http://<address>:<port>` of the boot listener. */
  httpUrl: string;
  /** sha256 of the unified kernel image. */
  digest: string;
  kernelArguments: readonly string[];
}

/**
 * Boots the ramdisk by the kernel and the initrd that its unified kernel image holds, on UEFI as on BIOS. The whole image is for firmware
 * that starts and verifies it by itself: from iPXE its stub needs the initrd in memory three times, and a machine with 512 MiB ends
 * in `Failed to load initrd` without coming back (seen on OVMF).
 * @throws RangeError when an argument could not stand in a script
 */
export function ramdiskScript(options: RamdiskScript): string {
  const image = `${scriptWord(options.httpUrl)}/images/sha256/${scriptWord(options.digest)}`;
  const commandLine = options.kernelArguments.map(scriptWord).join(' ');
  return [
    '#!ipxe',
    `echo railhead: booting the ramdisk ${options.digest.slice(0, 12)} (${options.firmware})`,
    ...sections(image, commandLine),
    'boot ||',
    ':failed',
    'echo railhead: the ramdisk did not start, the firmware goes on',
    'imgfree',
    'exit 1',
    '',
  ].join('\n');
}

function sections(image: string, commandLine: string): string[] {
  return [
    ...retried(
      `kernel --name linux ${image}/sections/linux initrd=initrd ${commandLine}`,
      'kernel',
      'failed',
    ),
    ...retried(`initrd --name initrd ${image}/sections/initrd`, 'initrd', 'failed'),
  ];
}
