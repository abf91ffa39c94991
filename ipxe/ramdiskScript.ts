import { scriptWord, setting } from './escape.ts';
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
 * Boots the ramdisk by the kernel and the initrd that its unified kernel image holds, on UEFI as on BIOS. Only where Secure Boot is on, so that
 * this iPXE is signed by a key that the firmware has, the whole image goes first: the firmware verifies it, and its embedded command line
 * counts. What it refuses is tried by its sections, since the firmware may have the key of the kernel. Elsewhere the whole image
 * would need the initrd in memory three times, and a machine with 512 MiB ends in `Failed to load initrd` without coming back (seen on OVMF).
 * @throws RangeError when an argument could not stand in a script
 */
export function ramdiskScript(options: RamdiskScript): string {
  const image = `${scriptWord(options.httpUrl)}/images/sha256/${scriptWord(options.digest)}`;
  const commandLine = options.kernelArguments.map(scriptWord).join(' ');
  return [
    '#!ipxe',
    `echo railhead: booting the ramdisk ${options.digest.slice(0, 12)} (${options.firmware})`,
    ...(options.firmware === 'uefi' ? wholeImage(image, commandLine) : []),
    ...sections(image, commandLine),
    'boot ||',
    ':failed',
    'echo railhead: the ramdisk did not start, the firmware goes on',
    'imgfree',
    'exit 1',
    '',
  ].join('\n');
}

/** An iPXE that cannot read the variable says nothing for it, which is not "on". */
function wholeImage(image: string, commandLine: string): string[] {
  return [
    `iseq ${setting('efi/SecureBoot:hexraw')} 01 || goto sections`,
    'echo railhead: Secure Boot is on, the firmware verifies the whole image',
    ...retried(`imgfetch --name ramdisk.efi ${image}/ramdisk.efi ${commandLine}`, 'whole', 'failed'),
    'imgexec ramdisk.efi ||',
    'echo railhead: the whole image did not start, trying its kernel',
    'imgfree',
    ':sections',
  ];
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
