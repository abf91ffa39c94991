import type { PinnedCentre } from '../join/trust.ts';

/**
 * The `vendor-data` of a NoCloud seed: a script that leaves `/etc/bcd/config.toml` and `/etc/bcd/join-encryption.jwk` in the OS, as this
 * ramdisk has them pinned. cloud-init runs it before the commands of the user data, whatever file system the OS has, which need not be
 * one that the ramdisk can write. What an image brought itself stays.
 */
export function hostVendorData({ url, joinEncryptionKey }: PinnedCentre): string {
  const config = url === undefined ? undefined : `[central]\nurl = ${JSON.stringify(url)}`;
  const key = joinEncryptionKey === undefined ? undefined : JSON.stringify(joinEncryptionKey);
  return [
    '#!/bin/sh',
    '# What the ramdisk that installed this OS knew of its centre.',
    'umask 022',
    'mkdir -p /etc/bcd',
    ...place('/etc/bcd/config.toml', config),
    ...place('/etc/bcd/join-encryption.jwk', key),
    '',
  ].join('\n');
}

/** No text here has a line that ends the here-document: they are JSON and one TOML table. */
function place(file: string, text: string | undefined): string[] {
  return text === undefined ? [] : [`[ -e ${file} ] || cat >${file} <<'RAILHEAD'`, text, 'RAILHEAD'];
}
