import { architectureNames, type MachineArchitecture } from '#base/architecture.ts';

/**
 * Programs of the ramdisk that Node cannot replace, by the Debian package that has them. The libraries that they need come
 * along. To add a tool add a row; a name may be a pattern with one `*`.
 */
export interface ToolRow {
  package: string;
  files: readonly string[];
}

const toolRows: readonly ToolRow[] = [
  { package: 'busybox-static', files: ['usr/bin/busybox'] },
  {
    package: 'util-linux',
    files: [
      'usr/bin/lsblk',
      'usr/bin/lscpu',
      'usr/bin/partx',
      'usr/bin/findmnt',
      'usr/bin/flock',
      'usr/sbin/blkid',
      'usr/sbin/wipefs',
      'usr/sbin/blkdiscard',
      'usr/sbin/blockdev',
    ],
  },
  { package: 'mount', files: ['usr/bin/mount', 'usr/bin/umount', 'usr/sbin/losetup'] },
  { package: 'fdisk', files: ['usr/sbin/sfdisk'] },
  { package: 'gdisk', files: ['usr/sbin/sgdisk'] },
  { package: 'nvme-cli', files: ['usr/sbin/nvme'] },
  { package: 'hdparm', files: ['usr/sbin/hdparm'] },
  { package: 'sg3-utils', files: ['usr/bin/sg_*'] },
  { package: 'smartmontools', files: ['usr/sbin/smartctl'] },
  { package: 'mdadm', files: ['usr/sbin/mdadm'] },
  {
    package: 'lvm2',
    files: [
      'usr/sbin/lvm',
      'usr/sbin/lvs',
      'usr/sbin/vgs',
      'usr/sbin/pvs',
      'usr/sbin/vgchange',
      'usr/sbin/pvscan',
    ],
  },
  { package: 'dmsetup', files: ['usr/sbin/dmsetup'] },
  {
    package: 'e2fsprogs',
    files: ['usr/sbin/mke2fs', 'usr/sbin/mkfs.ext4', 'usr/sbin/e2fsck', 'usr/sbin/resize2fs'],
  },
  { package: 'dosfstools', files: ['usr/sbin/mkfs.fat', 'usr/sbin/mkfs.vfat', 'usr/sbin/fsck.fat'] },
  { package: 'efibootmgr', files: ['usr/bin/efibootmgr'] },
  { package: 'kexec-tools', files: ['usr/sbin/kexec'] },
  { package: 'ipmitool', files: ['usr/bin/ipmitool'] },
  { package: 'ethtool', files: ['usr/sbin/ethtool'] },
  {
    package: 'kmod',
    files: ['usr/bin/kmod', 'usr/sbin/modprobe', 'usr/sbin/rmmod', 'usr/sbin/modinfo', 'usr/bin/lsmod'],
  },
  { package: 'dropbear-bin', files: ['usr/sbin/dropbear', 'usr/bin/dropbearkey'] },
];

/** What bcd itself needs: Node's libraries. */
const libraryRows: readonly ToolRow[] = [
  { package: 'libc6', files: ['libdl.so.2', 'libm.so.6', 'libpthread.so.0'] },
  { package: 'libgcc-s1', files: ['libgcc_s.so.1'] },
  { package: 'libstdc++6', files: ['libstdc++.so.6'] },
  { package: 'libatomic1', files: ['libatomic.so.1'] },
];

/** All rows; the libraries lie in a folder of their architecture. */
export function toolRowsFor(architecture: MachineArchitecture): ToolRow[] {
  const folder = `usr/lib/${architectureNames[architecture].triplet}`;
  const inFolder = ({ package: name, files }: ToolRow): ToolRow => ({
    package: name,
    files: files.map((file) => `${folder}/${file}`),
  });
  return [...toolRows, ...libraryRows.map(inFolder)];
}

/** Firmware that NICs load from a file (non-free-firmware); only what a module of the ramdisk asks for is taken. */
export const firmwarePackages: readonly string[] = [
  'firmware-bnx2',
  'firmware-bnx2x',
  'firmware-cavium',
  'firmware-intel-misc',
  'firmware-misc-nonfree',
  'firmware-myricom',
  'firmware-netronome',
  'firmware-netxen',
  'firmware-qlogic',
  'firmware-realtek',
];
