import { createHash } from 'node:crypto';

/** The identifiers of one image's disk: made from the image's inputs, so that the same inputs give the same bytes. */
export interface DiskIdentity {
  disk: string;
  espPartition: string;
  rootPartition: string;
  rootFileSystem: string;
  /** FAT volume id, 8 hex digits. */
  espVolume: string;
}

export function diskIdentity(inputKey: string): DiskIdentity {
  return {
    disk: uuidFrom(`${inputKey} disk`),
    espPartition: uuidFrom(`${inputKey} esp`),
    rootPartition: uuidFrom(`${inputKey} root`),
    rootFileSystem: uuidFrom(`${inputKey} root file system`),
    espVolume: digestOf(`${inputKey} esp volume`).slice(0, 8),
  };
}

/** How `/etc/fstab` and `findfs` write a FAT volume id. */
export function fatUuid(volume: string): string {
  return `${volume.slice(0, 4)}-${volume.slice(4)}`.toUpperCase();
}

/** A UUID of version 8, "vendor-specific" (RFC 9562 section 5.8). */
function uuidFrom(text: string): string {
  const hex = digestOf(text);
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return groups.join('-');
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
