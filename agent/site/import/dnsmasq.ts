import { isIPv4, isIPv6 } from 'node:net';
import { canonicalMac } from '#contract/bootEntry.ts';
import { networkOf, prefixOfMask } from './address.ts';
import { clientIdHex } from './clientId.ts';
import { isDomainName } from './domainName.ts';
import { type Imported, type ImportedNetwork, type ImportedOption, NotTaken } from './model.ts';
import { notTaken, optionRow } from './optionTable.ts';
import { optionValue } from './optionValue.ts';

/** What is being read, with the options that name a tag, which belong to the network or host that sets it. */
interface Reading extends Imported {
  where: string;
  line: string;
  interfaces: string[];
  networkTags: Map<string, ImportedNetwork>;
  tagged: { tags: string[]; option: ImportedOption; where: string; line: string }[];
  general: ImportedOption[];
  domain?: string;
}

type Reader = (value: string, reading: Reading) => void;

const readers: Record<string, Reader> = {
  interface: (value, { interfaces }) => void interfaces.push(...value.split(',')),
  domain: (value, reading) => {
    reading.domain = value.split(',')[0] ?? '';
  },
  'dhcp-range': range,
  'dhcp-host': host,
  'dhcp-option': option,
  'dhcp-option-force': option,
};

/** Words of dnsmasq that say nothing about addresses: they are not listed as left out. */
const unrelated =
  /^(log-|no-|bind-|user|group|pid-file|port$|cache-size|dhcp-authoritative|dhcp-leasefile|expand-hosts|domain-needed|bogus-priv|keep-in-foreground|quiet-|except-interface|strict-order|dhcp-lease-max)/;
const bootWords = /^(dhcp-boot|pxe-|enable-tftp|tftp-|dhcp-match|dhcp-vendorclass|dhcp-userclass)/;

/** Reads a dnsmasq.conf (dnsmasq(8)). Never throws: what cannot be read is in `left`. */
export function readDnsmasq(text: string): Imported {
  const reading: Reading = {
    ...{ networks: [], hosts: [], left: [], where: '', line: '' },
    ...{ interfaces: [], networkTags: new Map(), tagged: [], general: [] },
  };
  for (const [at, line] of text.split('\n').entries()) readLine(line, at, reading);
  finish(reading);
  const { networks, hosts, left } = reading;
  return { networks, hosts, left };
}

function readLine(raw: string, at: number, reading: Reading): void {
  const line = raw.replace(/(^|\s)#.*$/, '').trim();
  if (line === '') return;
  Object.assign(reading, { where: `line ${at + 1}`, line });
  const [name = '', ...rest] = line.split('=');
  const key = name.trim();
  const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
  if (reader !== undefined) take(() => reader(rest.join('=').trim(), reading), reading);
  else if (bootWords.test(key)) leave(reading, 'the site answers boot by itself, for every kind of firmware');
  else if (!unrelated.test(key)) leave(reading, 'has no counterpart in a site');
}

function take(read: () => void, reading: Reading): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof NotTaken)) throw error;
    leave(reading, error.message);
  }
}

/** `[tag:t,][set:t,]start[,end|static|proxy][,netmask[,broadcast]][,lease]` */
function range(value: string, reading: Reading): void {
  const words = value.split(',').map((word) => word.trim());
  const tags = words.filter((word) => /^(set|tag):/.test(word));
  const addresses = words.filter((word) => isIPv4(word));
  const [first, second, third] = addresses;
  if (first === undefined) throw new NotTaken('no IPv4 range');
  const fixed = words.find((word) => word === 'static' || word === 'proxy');
  const mask = fixed === undefined ? third : second;
  const prefixLength = mask === undefined ? commonPrefix(first, second ?? first) : prefixOfMask(mask);
  if (prefixLength === undefined) throw new NotTaken('its netmask is none');
  if (fixed === 'proxy') leave(reading, "a network for proxyDHCP: set the site's mode to proxy");
  const lease = leaseSeconds(words.at(-1) ?? '');
  const network: ImportedNetwork = {
    network: networkOf(first, prefixLength),
    prefixLength,
    ranges: fixed === undefined && second !== undefined ? [{ first, last: second }] : [],
    options: [],
    ...(lease !== undefined && { leaseSeconds: lease }),
  };
  const known = reading.networks.find(
    (one) => one.network === network.network && one.prefixLength === prefixLength,
  );
  known?.ranges.push(...network.ranges);
  if (known === undefined) reading.networks.push(network);
  for (const tag of tags) reading.networkTags.set(tag.slice(4), known ?? network);
}

/** dnsmasq takes the netmask of its interface, which its file does not say: a network of 256 addresses, or the least one that holds the range. */
function commonPrefix(first: string, last: string): number {
  let prefixLength = 24;
  while (prefixLength > 8 && networkOf(first, prefixLength) !== networkOf(last, prefixLength)) prefixLength--;
  return prefixLength;
}

const units: Record<string, number> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** `45m`, `12h`, `infinite` (a year: a site lends for at most 8760 h); undefined when the word is no lease time. */
function leaseSeconds(word: string): number | undefined {
  if (word === 'infinite') return 8760 * 3600;
  const found = /^(\d{1,9})([smhdw]?)$/.exec(word);
  return found === null ? undefined : Number(found[1]) * (units[found[2] ?? ''] ?? 1);
}

/** `[mac][,id:…][,set:t][,tag:t][,address][,[v6 address]][,hostname][,lease][,ignore]` */
function host(value: string, reading: Reading): void {
  const words = value.split(',').map((word) => word.trim());
  if (words.includes('ignore')) throw new NotTaken('a site has no list of machines to ignore');
  const keys = hostKeys(words);
  if (keys.length === 0)
    throw new NotTaken('a reservation needs an Ethernet address or a client identifier here');
  const address = words.find((word) => isIPv4(word));
  const address6 = words.map((word) => /^\[(.*)\]$/.exec(word)?.[1] ?? '').find((word) => isIPv6(word));
  const hostname = words.find((word, at) => at > 0 && isHostName(word));
  const options: ImportedOption[] = [];
  for (const [at, key] of keys.entries())
    reading.hosts.push({
      ...key,
      // Two interfaces of one machine cannot have one address at a time.
      ...(address !== undefined && at === 0 && { address }),
      ...(address6 !== undefined && at === 0 && { address6 }),
      ...(hostname !== undefined && { hostname }),
      options,
    });
  if (address !== undefined && keys.length > 1)
    leave(reading, `${address} is reserved for the first of its interfaces only`);
  const lease = words.find((word, at) => at > 0 && leaseSeconds(word) !== undefined);
  if (lease !== undefined)
    leave(reading, `${lease}: a site lends to every machine for the lease time of its network`);
  for (const tag of words.filter((word) => word.startsWith('set:')))
    reading.networkTags.set(tag.slice(4), { options } as ImportedNetwork);
}

function hostKeys(words: readonly string[]): { mac?: string; clientId?: string }[] {
  const macs = words.map(canonicalMac).filter((mac) => mac !== undefined);
  if (macs.length > 0) return macs.map((mac) => ({ mac }));
  const id = words.find((word) => word.startsWith('id:') && word !== 'id:*');
  const clientId = id === undefined ? undefined : clientIdHex(id.slice(3));
  return clientId === undefined ? [] : [{ clientId }];
}

function isHostName(word: string): boolean {
  return (
    isDomainName(word) &&
    !isIPv4(word) &&
    canonicalMac(word) === undefined &&
    leaseSeconds(word) === undefined
  );
}

/** `[tag:t,]…<number>|option:<name>,value[,value]` */
function option(value: string, reading: Reading): void {
  const words = value.split(',').map((word) => word.trim());
  const tags = words.filter((word) => word.startsWith('tag:')).map((word) => word.slice(4));
  const [name = '', ...values] = words.filter((word) => !word.startsWith('tag:'));
  if (/^(encap|vi-encap|vendor|option6|cpewan)/.test(name))
    throw new NotTaken('such options are not taken over');
  const row = optionRow(name.replace(/^option:/, ''));
  if (row === undefined) throw new NotTaken(`there is no option ${name}`);
  const why = notTaken(row.number);
  if (why !== undefined) throw new NotTaken(why);
  const read = optionValue(
    row.kind,
    values.map((word) => word.replace(/^"(.*)"$/, '$1')),
  );
  if (read === undefined || values.includes('0.0.0.0'))
    throw new NotTaken('its value is not one that can be taken over');
  const found = { number: row.number, value: read };
  if (tags.length === 0) reading.general.push(found);
  else reading.tagged.push({ tags, option: found, where: reading.where, line: reading.line });
}

/** Options go where their tags point, general ones to every network. */
function finish(reading: Reading): void {
  const { networks, networkTags, tagged, general, interfaces, domain } = reading;
  for (const { tags, option: found, where, line } of tagged) {
    const target = tags.length === 1 ? networkTags.get(tags[0] ?? '') : undefined;
    if (target !== undefined) target.options.push(found);
    else
      reading.left.push({
        where,
        what: line,
        why: `no network or host here sets the tags ${tags.join(', ')}`,
      });
  }
  const named: ImportedOption[] =
    domain === undefined ? [] : [{ number: 15, value: { kind: 'text', text: domain } }];
  for (const network of networks) network.options.push(...missing([...general, ...named], network.options));
  if (interfaces.length === 1 && networks.length === 1)
    Object.assign(networks[0] ?? {}, { interface: interfaces[0] });
}

function missing(options: readonly ImportedOption[], present: readonly ImportedOption[]): ImportedOption[] {
  return options.filter(({ number }) => !present.some((one) => one.number === number));
}

function leave({ left, where, line }: Reading, why: string): void {
  left.push({ where, what: line, why });
}
