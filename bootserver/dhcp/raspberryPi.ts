/** Hardware prefixes that the IEEE gave to Raspberry Pi. */
const prefixes = ['28:cd:c1', '2c:cf:67', '88:a2:9e', 'b8:27:eb', 'd8:3a:dd', 'dc:a6:32', 'e4:5f:01'];

/** `RPi4`, `RPi5`, …: how the EEPROM boot loader's identifier begins (raspberrypi/documentation, DHCP_OPTION97). */
const magic = /^RPi\d/;

/**
 * Whether the boot ROM of a Raspberry Pi asks. It says that it is an x86 BIOS (architecture 0), and some of its REQUESTs name no class
 * (raspberrypi/rpi-eeprom issues 82, 182). A Pi that runs UEFI firmware or U-Boot says another architecture, and is that.
 * @param architectures the numbers of option 93, or that of option 60
 */
export function isRaspberryPiRom(
  mac: string | undefined,
  architectures: readonly number[],
  machineId: Buffer | undefined,
): boolean {
  const said = architectures.filter((number) => number !== 0);
  if (said.includes(41)) return true;
  if (said.length > 0 || (architectures.length === 0 && machineId === undefined)) return false;
  return magic.test(machineId?.toString('latin1', 1, 5) ?? '') || prefixes.includes(mac?.slice(0, 8) ?? '');
}
