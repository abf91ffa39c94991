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
 * Boots the ramdisk. UEFI runs the unified kernel image whole; BIOS cannot, so it gets the kernel and the initrd that
 * the image holds.
 * @throws RangeError when an argument could not stand in a script
 */
export function ramdiskScript(options: RamdiskScript): string {
  const image = `${scriptWord(options.httpUrl)}/images/sha256/${scriptWord(options.digest)}`;
  const commandLine = options.kernelArguments.map(scriptWord).join(' ');
  const fetches = options.firmware === 'uefi' ? wholeImage(image, commandLine) : sections(image, commandLine);
  return [
    '#!ipxe',
    `echo railhead: booting the ramdisk ${options.digest.slice(0, 12)} (${options.firmware})`,
    ...fetches,
    'boot ||',
    ':failed',
    'echo railhead: the ramdisk did not start, the firmware goes on',
    'imgfree',
    'exit 1',
    '',
  ].join('\n');
}

function wholeImage(image: string, commandLine: string): string[] {
  return retried(`kernel --name linux ${image} ${commandLine}`, 'image', 'failed');
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
