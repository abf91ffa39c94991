import type { PinnedCentre } from '../join/trust.ts';

/**
 * The `vendor-data` of a NoCloud seed: a script that leaves `/etc/bcd/config.toml` and `/etc/bcd/join-encryption.jwk` in the OS, as this
 * ramdisk has them pinned. cloud-init runs it before the commands of the user data, whatever file system the OS has, which need not be
 * one that the ramdisk can write. What an image brought itself stays.
 */
export function hostVendorData(centre: PinnedCentre): string {
  return [
    '#!/bin/sh',
    '# What the ramdisk that installed this OS knew of its centre.',
    'umask 022',
    'mkdir -p /etc/bcd',
    ...Object.entries(centreFiles(centre)).flatMap(([file, text]) => place(file, text)),
    '',
  ].join('\n');
}

/** What an installed OS is to know of its centre, by path. */
export function centreFiles({ url, joinEncryptionKey }: PinnedCentre): Record<string, string> {
  return {
    ...(url !== undefined && { '/etc/bcd/config.toml': `[central]\nurl = ${JSON.stringify(url)}` }),
    ...(joinEncryptionKey !== undefined && {
      '/etc/bcd/join-encryption.jwk': JSON.stringify(joinEncryptionKey),
    }),
  };
}

/** No text here has a line that ends the here-document: they are JSON and one TOML table. */
function place(file: string, text: string): string[] {
  return [`[ -e ${file} ] || cat >${file} <<'RAILHEAD'`, text, 'RAILHEAD'];
}
