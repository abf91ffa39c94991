import { isIPv4 } from 'node:net';
import { canonicalMac } from '#contract/bootEntry.ts';
import { networkOf, prefixOfMask } from '../address.ts';
import { isDomainName } from '../domainName.ts';
import { type Imported, type ImportedHost, type ImportedNetwork, NotTaken } from '../model.ts';
import { option } from './options.ts';
import { leave, type Reader, type Reading, type Scope, text } from './reading.ts';
import { type Statement, statementsOf } from './statements.ts';

const readers: Record<string, Reader> = {
  subnet,
  'shared-network': within,
  group: within,
  pool,
  host,
  range,
  option,
  hardware,
  'fixed-address': fixedAddress,
  allow: whoIsServed,
  deny: whoIsServed,
  ignore: whoIsServed,
  'default-lease-time': (statement, scope) => {
    const seconds = Number(text(statement, 1));
    if (Number.isInteger(seconds) && seconds > 0) scope.leaseSeconds = seconds;
  },
};

/** Statements that say nothing about addresses: they are not listed as left out. */
const unrelated =
  /^(authoritative|not|ddns-|update-|max-lease-time|min-lease-time|log-facility|one-lease|get-lease|ping-|include-none|server-name|db-time-format|omapi-|key|zone|lease-file-name|pid-file-name|local-|interface)/;
const bootWords = /^(filename|next-server|server-name)$/;

/** Reads ISC's dhcpd.conf (dhcpd.conf(5)). Never throws: what cannot be read is in `left`. */
export function readIsc(content: string): Imported {
  const reading: Reading = { networks: [], hosts: [], left: [], defined: new Map(), general: [] };
  read(statementsOf(content), { options: reading.general }, reading);
  const { networks, hosts, left } = reading;
  return { networks, hosts, left };
}

/** The plain statements of a block go first: they count for its sub-blocks, wherever they stand. */
function read(statements: readonly Statement[], scope: Scope, reading: Reading): void {
  const plain = statements.filter(({ body }) => body === undefined);
  const blocks = statements.filter(({ body }) => body !== undefined);
  for (const statement of [...plain, ...blocks]) {
    const name = text(statement, 0);
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (reader !== undefined) take(() => reader(statement, scope, reading), statement, reading);
    else if (bootWords.test(name))
      leave(statement, reading, 'the site answers boot by itself, for every kind of firmware');
    else if (!unrelated.test(name)) leave(statement, reading, 'has no counterpart in a site');
  }
}

function take(reader: () => void, statement: Statement, reading: Reading): void {
  try {
    reader();
  } catch (error) {
    if (!(error instanceof NotTaken)) throw error;
    leave(statement, reading, error.message);
  }
}

function within(statement: Statement, scope: Scope, reading: Reading): void {
  read(statement.body ?? [], { ...scope, options: [...scope.options] }, reading);
}

/** A site has one pool for a network and no settings for that pool alone. */
function pool(statement: Statement, { network }: Scope, reading: Reading): void {
  const inner: Scope = { options: [], ...(network !== undefined && { network }) };
  read(statement.body ?? [], inner, reading);
  if (inner.options.length > 0 || inner.leaseSeconds !== undefined)
    throw new NotTaken('options and lease time of one pool: a site has them for a network');
}

/** What dhcpd does by itself is no loss; a list of clients is. */
function whoIsServed(statement: Statement): void {
  const own = [
    'booting',
    'bootp',
    'client-updates',
    'duplicates',
    'declines',
    'leasequery',
    'unknown-clients',
  ];
  const isOwn =
    own.includes(text(statement, 1)) &&
    (text(statement, 0) === 'allow' || !/^(unknown|boot)/.test(text(statement, 1)));
  if (!isOwn) throw new NotTaken('a site answers every machine: it has no lists of clients');
}

/** `subnet 10.0.0.0 netmask 255.255.255.0 { … }` */
function subnet(statement: Statement, scope: Scope, reading: Reading): void {
  const address = text(statement, 1);
  const prefixLength = prefixOfMask(text(statement, 3));
  if (!isIPv4(address) || prefixLength === undefined) throw new NotTaken('its network or netmask is none');
  const network: ImportedNetwork = {
    network: networkOf(address, prefixLength),
    prefixLength,
    ranges: [],
    options: [],
  };
  reading.networks.push(network);
  const inner: Scope = {
    options: [...scope.options],
    network,
    ...(scope.leaseSeconds !== undefined && { leaseSeconds: scope.leaseSeconds }),
  };
  read(statement.body ?? [], inner, reading);
  network.options = inner.options;
  if (inner.leaseSeconds !== undefined) network.leaseSeconds = inner.leaseSeconds;
}

/** `range [dynamic-bootp] first [last];` */
function range(statement: Statement, { network }: Scope): void {
  const [first, last = first] = statement.words.map(({ text: word }) => word).filter((word) => isIPv4(word));
  if (network === undefined || first === undefined || last === undefined)
    throw new NotTaken('a range outside of a subnet, or none');
  network.ranges.push({ first, last });
}

function host(statement: Statement, scope: Scope, reading: Reading): void {
  const found: ImportedHost = { options: [] };
  read(statement.body ?? [], { options: found.options, host: found }, reading);
  if (found.mac === undefined && found.clientId === undefined)
    throw new NotTaken('a reservation needs an Ethernet address or a client identifier here');
  const inherited = scope.options.filter(
    (outer) =>
      !reading.general.includes(outer) && !found.options.some(({ number }) => number === outer.number),
  );
  if (scope.network === undefined) found.options.push(...inherited);
  const name = text(statement, 1);
  const given = found.options.find(({ number }) => number === 12);
  found.options = found.options.filter(({ number }) => number !== 12);
  const hostname = given?.value.kind === 'text' ? given.value.text : name;
  reading.hosts.push({ ...found, ...(isDomainName(hostname) && { hostname }) });
}

function hardware(statement: Statement, { host: owner }: Scope): void {
  const mac = text(statement, 1) === 'ethernet' ? canonicalMac(text(statement, 2)) : undefined;
  if (owner === undefined || mac === undefined) throw new NotTaken('no Ethernet address of a host');
  owner.mac = mac;
}

function fixedAddress(statement: Statement, { host: owner }: Scope, reading: Reading): void {
  const addresses = statement.words
    .slice(1)
    .map(({ text: word }) => word)
    .filter((word) => word !== ',');
  const address = addresses.find((word) => isIPv4(word));
  if (owner === undefined || address === undefined) throw new NotTaken('not one IPv4 address of a host');
  owner.address = address;
  if (addresses.length > 1)
    leave(statement, reading, `only ${address} is taken: a site reserves one address for a machine`);
}
