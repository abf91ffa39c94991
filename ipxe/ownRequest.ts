/** DHCP's user class (option 77) of the requests that our own scripts make, and of no others: their answer is our first script. */
export const ownUserClass = 'railhead-ipxe';

/**
 * Lines around a command that asks by DHCP. The class is taken back at once: an iPXE of a ROM goes on by itself when our script has
 * ended, and what it asks then is not ours.
 */
export function asOurs(lines: readonly string[]): string[] {
  return [`set user-class ${ownUserClass}`, ...lines, 'clear user-class'];
}
