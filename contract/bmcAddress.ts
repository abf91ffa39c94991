/** Ports of IPMI and HTTPS, which an address need not name. */
const usualPorts: Readonly<Record<string, string>> = { 'ipmi:': '623', 'https:': '443' };

/**
 * The one way to write a BMC's address, so that one that two nodes name differently (`https://BMC-7`, `https://bmc-7:443/`) is known as one.
 * What is no URL stays as it is.
 */
export function canonicalAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const { protocol, hostname, port } = new URL(address);
  const ending = port === '' || port === usualPorts[protocol] ? '' : `:${port}`;
  return `${protocol}//${hostname.toLowerCase()}${ending}`;
}
