import { scriptWord } from './escape.ts';
import { retried } from './retry.ts';

export interface IsoScript {
  firmware: 'bios' | 'uefi';
  /** `http://<address>:<port>` of the boot listener. */
  httpUrl: string;
  /** sha256 of the ISO. */
  digest: string;
}

/**
 * Boots an ISO straight from the site's cache: iPXE shows it to the firmware as a CD drive, and fetches the blocks that are read by
 * HTTP ranges. `--no-describe`: no operating system takes such a drive over, so the drive is gone once a kernel has started.
 * @throws RangeError when an argument could not stand in a script
 */
export function isoScript({ firmware, httpUrl, digest }: IsoScript): string {
  const image = `${scriptWord(httpUrl)}/images/sha256/${scriptWord(digest)}`;
  return [
    '#!ipxe',
    `echo railhead: booting the ISO ${digest.slice(0, 12)} from the site's cache (${firmware})`,
    ...retried(`sanboot --no-describe ${image}`, 'sanboot', 'failed'),
    'echo railhead: the ISO has ended, the firmware goes on',
    'exit 1',
    ':failed',
    'echo railhead: the ISO did not start, the firmware goes on',
    'exit 1',
    '',
  ].join('\n');
}
