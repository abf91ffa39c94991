/** How an option's value is written in the other servers' files. */
export type OptionKind =
  | 'addresses'
  | 'text'
  | 'names'
  | 'routes'
  | 'octetRoutes'
  | 'hex'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'flag';

interface OptionRow {
  number: number;
  kind: OptionKind;
  /** As dnsmasq, ISC dhcpd and Kea call it; only what differs is listed twice. */
  names: readonly string[];
}

const row = (number: number, kind: OptionKind, ...names: string[]): OptionRow => ({ number, kind, names });

/** Options that sites have in use, by their number in the registry of RFC 2132 and its followers. */
const rows: readonly OptionRow[] = [
  row(1, 'addresses', 'subnet-mask', 'netmask'),
  row(2, 'uint32', 'time-offset'),
  row(3, 'addresses', 'routers', 'router'),
  row(4, 'addresses', 'time-servers', 'time-server'),
  row(6, 'addresses', 'domain-name-servers', 'dns-server'),
  row(7, 'addresses', 'log-servers', 'log-server'),
  row(9, 'addresses', 'lpr-servers', 'lpr-server'),
  row(12, 'text', 'host-name', 'hostname'),
  row(15, 'text', 'domain-name'),
  row(17, 'text', 'root-path'),
  row(19, 'flag', 'ip-forwarding', 'ip-forward-enable'),
  row(23, 'uint8', 'default-ip-ttl', 'default-ttl'),
  row(26, 'uint16', 'interface-mtu', 'mtu'),
  row(28, 'addresses', 'broadcast-address', 'broadcast'),
  row(33, 'addresses', 'static-routes', 'static-route'),
  row(42, 'addresses', 'ntp-servers', 'ntp-server'),
  row(43, 'hex', 'vendor-encapsulated-options', 'vendor-encap'),
  row(44, 'addresses', 'netbios-name-servers', 'netbios-ns'),
  row(45, 'addresses', 'netbios-dd-server', 'netbios-dd'),
  row(46, 'uint8', 'netbios-node-type', 'netbios-nodetype'),
  row(51, 'uint32', 'dhcp-lease-time', 'lease-time'),
  row(58, 'uint32', 'dhcp-renewal-time', 'T1'),
  row(59, 'uint32', 'dhcp-rebinding-time', 'T2'),
  row(60, 'text', 'vendor-class-identifier', 'vendor-class'),
  row(66, 'text', 'tftp-server-name', 'tftp-server'),
  row(67, 'text', 'bootfile-name', 'boot-file-name'),
  row(69, 'addresses', 'smtp-server'),
  row(100, 'text', 'pcode', 'posix-timezone'),
  row(101, 'text', 'tcode', 'tzdb-timezone'),
  row(114, 'text', 'v4-captive-portal', 'default-url', 'captive-portal'),
  row(119, 'names', 'domain-search'),
  row(121, 'routes', 'classless-static-route', 'classless-static-routes'),
  // Widely used ISC definitions of option 121 as an array of numbers.
  row(121, 'octetRoutes', 'rfc3442-classless-static-routes', 'ms-classless-static-routes'),
  row(138, 'addresses', 'capwap-ac-v4'),
  row(150, 'addresses', 'tftp-server-address'),
];

const byName = new Map(rows.flatMap((found) => found.names.map((name) => [name.toLowerCase(), found])));

/** An option by the name that a configuration file gives it, or by its number. */
export function optionRow(name: string): { number: number; kind: OptionKind | undefined } | undefined {
  const named = byName.get(name.toLowerCase());
  if (named !== undefined) return named;
  if (!/^\d{1,3}$/.test(name)) return undefined;
  const number = Number(name);
  return { number, kind: rows.find((known) => known.number === number)?.kind };
}

/** Why an option of another server is not taken over; undefined for one that is. */
export function notTaken(number: number): string | undefined {
  if (number === 1 || number === 28) return 'follows from the network';
  if (number === 51 || number === 58 || number === 59) return 'follows from leaseTime';
  if ([43, 60, 66, 67, 150].includes(number))
    return 'the site answers boot by itself, for every kind of firmware';
  return undefined;
}
