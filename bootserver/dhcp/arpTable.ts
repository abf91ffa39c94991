/** Which hosts answer at which addresses, by their Ethernet addresses. */
export type ArpTable = ReadonlyMap<string, string>;

/** NUD_VALID, as `/proc/net/arp` shows it: the neighbour's hardware address is known (Linux if_arp.h, ATF_COM). */
const complete = 0x2;

/**
 * The neighbours on one interface in the text of `/proc/net/arp` (proc(5)): columns address, hardware type, flags, hardware
 * address, mask, device. An address that was asked for and did not answer stands there with flags 0x0 and is left out.
 */
export function arpTable(text: string, interfaceName: string): ArpTable {
  const table = new Map<string, string>();
  for (const line of text.split('\n').slice(1)) {
    const [address = '', , flags, mac = '', , device] = line.trim().split(/\s+/);
    if (device === interfaceName && (Number(flags) & complete) !== 0) table.set(address, mac.toLowerCase());
  }
  return table;
}
