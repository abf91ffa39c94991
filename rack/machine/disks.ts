/** How a disk hangs in the machine: QEMU arguments for its device, and for a controller that its bus needs once. */
interface DiskBusDefinition {
  controller: readonly string[];
  device(index: number): string;
}

const buses = {
  virtio: { controller: [], device: () => 'virtio-blk-pci' },
  nvme: { controller: [], device: () => 'nvme' },
  // The q35 machine has an AHCI controller with ports ide.0 to ide.5; the CD drive is on the last.
  sata: { controller: [], device: (index) => `ide-hd,bus=ide.${index}` },
  scsi: { controller: ['-device', 'virtio-scsi-pci,id=scsi0'], device: () => 'scsi-hd,bus=scsi0.0' },
} as const satisfies Record<string, DiskBusDefinition>;

export type DiskBus = keyof typeof buses;
export const diskBusNames = Object.keys(buses) as DiskBus[];

/** A disk of a machine: a sparse file, and the serial number that the guest reads. */
export interface RackDisk {
  file: string;
  serial: string;
  sizeBytes: number;
  bus: DiskBus;
}

const unitBytes = { M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 } as const;

/** Bytes of a size such as `8G`; the text must match the pattern in the rack's schema. */
export function sizeInBytes(text: string): number {
  return Number(text.slice(0, -1)) * unitBytes[text.slice(-1) as keyof typeof unitBytes];
}

/** The device id of a machine's disk in QEMU. */
export function diskId(index: number): string {
  return `disk${index}`;
}

/**
 * QEMU arguments for all disks of a machine. Flushes end in the host's page cache: a rack's disks need to survive the
 * death of every process, not of the host, and a flush to the host's disk would make the figures those of the host.
 */
export function diskArguments(
  disks: readonly RackDisk[],
  bootIndex: (deviceId: string) => string,
): readonly string[] {
  const controllers = [...new Set(disks.map((disk) => buses[disk.bus].controller))].flat();
  return [...controllers, ...disks.flatMap((disk, index) => oneDisk(disk, index, bootIndex(diskId(index))))];
}

function oneDisk(disk: RackDisk, index: number, bootIndex: string): string[] {
  const id = diskId(index);
  const file = disk.file.replaceAll(',', ',,');
  return [
    '-blockdev',
    `node-name=file-${id},driver=raw,discard=unmap,cache.no-flush=on,file.driver=file,file.filename=${file}`,
    '-device',
    `${buses[disk.bus].device(index)},id=${id},drive=file-${id},serial=${disk.serial}${bootIndex}`,
  ];
}
