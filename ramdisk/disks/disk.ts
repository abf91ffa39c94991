/** One whole disk of the machine as the kernel shows it. */
export interface Disk {
  /** The kernel's name: `sda`, `nvme0n1`. */
  name: string;
  /** `/dev/sda` */
  path: string;
  sizeBytes: number;
  logicalSectorSize: number;
  serial?: string;
  /** World-wide name in the form of `canonicalWwn`. */
  wwn?: string;
  model?: string;
  rotational: boolean;
  removable: boolean;
  readOnly: boolean;
  /** What holds it or a partition of it: `sda1 mounted on /data`, `sda2 held by md127`. */
  usedBy: string[];
  /** The other paths to the same disk, by the kernel's names. */
  otherPaths: string[];
}

/** A world-wide name without its kind and punctuation, in lower case: `0x5000c500a1b2c3d4`, `naa.5000c500a1b2c3d4` are one. */
export function canonicalWwn(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^(0x|naa\.|eui\.|uuid\.|nvme\.|t10\.)/, '')
    .replaceAll(/\s+/g, ' ');
}

/** A serial number as people copy it: blanks at both ends and runs of blanks do not count. */
export function canonicalSerial(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
