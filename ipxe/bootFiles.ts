/** What a machine's firmware can run. */
export type Machine = 'i386' | 'x86_64' | 'arm32' | 'aarch64' | 'riscv64' | 'rpi';
export type Firmware = 'bios' | 'uefi' | 'uboot' | 'rpi';
/** How the firmware fetches its boot file. */
export type Transport = 'tftp' | 'http';

export interface ArchitectureRow {
  machine: Machine;
  firmware: Firmware;
  transport: Transport;
}

const row = (machine: Machine, firmware: Firmware, transport: Transport): ArchitectureRow => ({
  machine,
  firmware,
  transport,
});

/**
 * Client architecture types (DHCP option 93): RFC 4578 §2.1 with its erratum and the IANA registry. x64 UEFI says 7 on
 * most boards and 9 on some (RFC 4578's first text had the two names swapped), so both mean the same here.
 */
export const architectures: ReadonlyMap<number, ArchitectureRow> = new Map([
  [0, row('x86_64', 'bios', 'tftp')],
  [6, row('i386', 'uefi', 'tftp')],
  [7, row('x86_64', 'uefi', 'tftp')],
  [9, row('x86_64', 'uefi', 'tftp')],
  [10, row('arm32', 'uefi', 'tftp')],
  [11, row('aarch64', 'uefi', 'tftp')],
  [15, row('i386', 'uefi', 'http')],
  [16, row('x86_64', 'uefi', 'http')],
  [17, row('x86_64', 'uefi', 'http')],
  [18, row('arm32', 'uefi', 'http')],
  [19, row('aarch64', 'uefi', 'http')],
  [20, row('x86_64', 'bios', 'http')],
  [21, row('arm32', 'uboot', 'tftp')],
  [22, row('aarch64', 'uboot', 'tftp')],
  [23, row('arm32', 'uboot', 'http')],
  [24, row('aarch64', 'uboot', 'http')],
  [27, row('riscv64', 'uefi', 'tftp')],
  [28, row('riscv64', 'uefi', 'http')],
  [41, row('rpi', 'rpi', 'tftp')],
]);

/** The iPXE binary for each kind of firmware; one that is missing here gets an address but no boot file. */
const bootFiles: ReadonlyMap<string, string> = new Map([
  ['bios/x86_64/tftp', 'undionly.kpxe'],
  // snponly drives the very card that the firmware booted from, through the firmware's own driver.
  ['uefi/x86_64/tftp', 'snponly.efi'],
  ['uefi/x86_64/http', 'ipxe-amd64.efi'],
  ['uefi/aarch64/tftp', 'ipxe-arm64.efi'],
  ['uefi/aarch64/http', 'ipxe-arm64.efi'],
  // U-Boot starts EFI programs by `bootefi`.
  ['uboot/aarch64/tftp', 'ipxe-arm64.efi'],
  ['uboot/aarch64/http', 'ipxe-arm64.efi'],
]);

/** The file that brings iPXE to this architecture; undefined when there is none. */
export function bootFile(architecture: ArchitectureRow): string | undefined {
  const { firmware, machine, transport } = architecture;
  return bootFiles.get(`${firmware}/${machine}/${transport}`);
}
