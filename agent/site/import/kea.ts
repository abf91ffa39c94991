import { isIPv4 } from 'node:net';
import { canonicalMac } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { networkOf, rangeOf } from './address.ts';
import { clientIdHex } from './clientId.ts';
import { isDomainName } from './domainName.ts';
import { whyUnread } from './keaWords.ts';
import type { Imported, ImportedNetwork, ImportedOption } from './model.ts';
import { notTaken, optionRow } from './optionTable.ts';
import { optionValue } from './optionValue.ts';

type Json = { [name: string]: unknown };

/**
 * Reads the JSON of Kea's DHCPv4 server (`Dhcp4`), with the comments that Kea allows.
 * @throws RailheadError INVALID_INPUT when it is no JSON or has no `Dhcp4`
 */
export function readKea(text: string): Imported {
  const root = parse(text).Dhcp4;
  if (!isObject(root))
    throw new RailheadError('INVALID_INPUT', 'no Dhcp4 in this file: give the configuration of kea-dhcp4', {
      path: 'Dhcp4',
    });
  const found: Imported = { networks: [], hosts: [], left: [] };
  const general = optionsOf(root, 'Dhcp4', found);
  const subnets = [
    ...list(root, 'subnet4').map((subnet, at) => ({
      subnet,
      where: `Dhcp4.subnet4[${at}]`,
      shared: {} as Json,
    })),
    ...list(root, 'shared-networks').flatMap((shared, network) =>
      list(shared, 'subnet4').map((subnet, at) => ({
        subnet,
        shared,
        where: `Dhcp4.shared-networks[${network}].subnet4[${at}]`,
      })),
    ),
  ];
  for (const { subnet, shared, where } of subnets) {
    const outer = over(optionsOf(shared, `${where} (shared network)`, found), general);
    readSubnet(subnet, where, { outer, valid: shared['valid-lifetime'] ?? root['valid-lifetime'] }, found);
  }
  for (const [at, entry] of list(root, 'reservations').entries())
    readReservation(entry, `Dhcp4.reservations[${at}]`, found);
  leaveUnread(root, 'Dhcp4', found);
  return found;
}

function readSubnet(
  subnet: Json,
  where: string,
  { outer, valid }: { outer: ImportedOption[]; valid: unknown },
  found: Imported,
): void {
  const [address = '', width = ''] = String(subnet.subnet).split('/');
  const prefixLength = Number(width);
  if (!isIPv4(address) || !/^\d{1,2}$/.test(width) || prefixLength > 32) {
    leave(found, `${where}.subnet`, String(subnet.subnet), 'is no IPv4 network');
    return;
  }
  const lease = Number(subnet['valid-lifetime'] ?? valid);
  const name = subnet.interface;
  const network: ImportedNetwork = {
    network: networkOf(address, prefixLength),
    prefixLength,
    ranges: pools(subnet, where, found),
    options: over(optionsOf(subnet, where, found), outer),
    ...(Number.isInteger(lease) && lease > 0 && { leaseSeconds: lease }),
    ...(typeof name === 'string' && { interface: name }),
  };
  found.networks.push(network);
  for (const [at, entry] of list(subnet, 'reservations').entries())
    readReservation(entry, `${where}.reservations[${at}]`, found);
  leaveUnread(subnet, where, found);
}

function pools(subnet: Json, where: string, found: Imported): ImportedNetwork['ranges'] {
  return list(subnet, 'pools').flatMap((pool, at) => {
    const path = `${where}.pools[${at}]`;
    const range = rangeOf(String(pool.pool));
    if (range === undefined) leave(found, path, String(pool.pool), 'is no range of IPv4 addresses');
    if (list(pool, 'option-data').length > 0)
      leave(found, `${path}.option-data`, 'options', 'options of one pool: a site has them for a network');
    leaveUnread(pool, path, found);
    return range === undefined ? [] : [range];
  });
}

function readReservation(entry: Json, where: string, found: Imported): void {
  const mac = canonicalMac(String(entry['hw-address'] ?? ''));
  const clientId = clientIdHex(String(entry['client-id'] ?? ''));
  if (mac === undefined && clientId === undefined) {
    leave(
      found,
      where,
      JSON.stringify(entry),
      'a reservation needs an Ethernet address or a client identifier here',
    );
    return;
  }
  const address = String(entry['ip-address'] ?? '');
  const hostname = String(entry.hostname ?? '');
  found.hosts.push({
    ...(mac === undefined ? { clientId: clientId ?? '' } : { mac }),
    options: optionsOf(entry, where, found),
    ...(isIPv4(address) && { address }),
    ...(isDomainName(hostname) && { hostname }),
  });
  leaveUnread(entry, where, found);
}

function optionsOf(owner: Json, where: string, found: Imported): ImportedOption[] {
  return list(owner, 'option-data').flatMap((entry, at) => {
    const option = readOption(entry);
    if (typeof option !== 'string') return [option];
    leave(found, `${where}.option-data[${at}]`, JSON.stringify(entry), option);
    return [];
  });
}

/** One option, or why it is not taken over. With `csv-format` false its data are hex. */
function readOption(entry: Json): ImportedOption | string {
  if (entry.space !== undefined && entry.space !== 'dhcp4') return 'such options are not taken over';
  const row = optionRow(String(entry.code ?? entry.name ?? ''));
  if (row === undefined) return 'is not an option that is known here';
  const why = notTaken(row.number);
  if (why !== undefined) return why;
  const data = String(entry.data ?? '');
  const kind = entry['csv-format'] === false ? 'hex' : row.kind;
  const value = optionValue(
    kind,
    kind === 'hex' ? [data.replaceAll(/0x|\s/g, '')] : data.split(',').map((word) => word.trim()),
  );
  return value === undefined ? 'its value is not one that can be taken over' : { number: row.number, value };
}

function over(inner: ImportedOption[], outer: readonly ImportedOption[]): ImportedOption[] {
  return [...inner, ...outer.filter(({ number }) => !inner.some((own) => own.number === number))];
}

function parse(text: string): Json {
  const plain = text.replaceAll(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : ' ',
  );
  try {
    // Kea takes a comma before a closing bracket.
    const parsed: unknown = JSON.parse(
      plain.replaceAll(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (found) => (found === ',' ? '' : found)),
    );
    return isObject(parsed) ? parsed : {};
  } catch (error) {
    throw new RailheadError('INVALID_INPUT', `not the JSON of Kea: ${(error as Error).message}`, {
      reason: 'not-json',
    });
  }
}

function list(owner: Json, name: string): Json[] {
  const found = owner[name];
  return Array.isArray(found) ? found.filter(isObject) : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function leaveUnread(owner: Json, where: string, found: Imported): void {
  for (const [name, value] of Object.entries(owner)) {
    const why = whyUnread(name);
    if (why !== undefined && !isEmpty(value)) leave(found, `${where}.${name}`, JSON.stringify(value), why);
  }
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === null || (Array.isArray(value) && value.length === 0);
}

function leave({ left }: Imported, where: string, what: string, why: string): void {
  left.push({ where, what, why });
}
