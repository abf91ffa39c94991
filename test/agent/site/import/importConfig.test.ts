import { readFileSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '#agent/site/config.ts';
import { formatOf, importConfig } from '#agent/site/import/importConfig.ts';
import { run } from '#base/command.ts';
import { RailheadError } from '#contract/errors.ts';

const fixture = (name: string) => `test/fixtures/import/${name}`;
const imported = (name: string, address: string, device?: string) =>
  importConfig(readFileSync(fixture(name), 'utf8'), {
    address,
    ...(device !== undefined && { interface: device }),
  });
const refused = (name: string, address: string, device?: string): RailheadError => {
  try {
    imported(name, address, device);
  } catch (error) {
    if (error instanceof RailheadError) return error;
  }
  throw new Error('was not refused');
};

test.each([
  ['dnsmasq.conf', 'dnsmasq'],
  ['dhcpd.conf', 'isc'],
  ['kea-dhcp4.conf', 'kea'],
])('%s is known by its look', (name, format) => {
  expect(formatOf(readFileSync(fixture(name), 'utf8'))).toBe(format);
});

test('dnsmasq: the network of the site is the main one, with pool, options and reservations', () => {
  const { toml } = imported('dnsmasq.conf', '10.20.0.1', 'prov0');
  expect(parseConfig(toml).provisioning).toMatchObject({
    interface: 'prov0',
    address: '10.20.0.1',
    prefixLength: 24,
    poolStart: '10.20.0.100',
    poolEnd: '10.20.0.180',
    router: '10.20.0.1',
    dns: ['10.20.0.2', '10.20.0.3'],
    domain: 'lab.example',
    search: ['lab.example', 'example'],
    ntp: ['10.20.0.4'],
    routes: [{ to: '10.30.0.0/16', via: '10.20.0.9' }],
    options: [{ number: 26, hex: '2328' }],
    leaseTime: '12h',
    hosts: [
      { mac: '52:54:00:12:34:56', address: '10.20.0.11', hostname: 'rack1-node1' },
      { mac: '52:54:00:aa:bb:cc', address: '10.20.0.12', hostname: 'rack1-node2' },
      { mac: '52:54:00:aa:bb:cd', hostname: 'rack1-node2' },
      { clientId: '64656164', address: '10.20.0.13' },
    ],
  });
});

test('what is not taken over stands in the file, also the second range of a network', () => {
  const { toml, left } = imported('dnsmasq.conf', '10.20.0.1', 'prov0');
  expect(left.map(({ what }) => what)).toContain('10.20.0.200 to 10.20.0.220');
  expect(toml.match(/^# Not taken over: /gm)).toHaveLength(left.length);
});

test("a pool that holds the site's own address loses it, and the smaller part", () => {
  const { toml } = imported('kea-dhcp4.conf', '10.60.0.130');
  expect(parseConfig(toml).provisioning).toMatchObject({
    interface: 'eth1',
    poolStart: '10.60.0.131',
    poolEnd: '10.60.0.191',
  });
});

test('another network is taken as one behind a relay; without a router it cannot be', () => {
  const ownIsOther = imported('dhcpd.conf', '10.41.0.1', 'eth0');
  expect(parseConfig(ownIsOther.toml).provisioning.subnets).toMatchObject([
    { relayed: '10.40.0.0/24', router: '10.40.0.1', poolStart: '10.40.0.100', poolEnd: '10.40.0.150' },
  ]);
  const { left } = imported('dhcpd.conf', '10.40.0.1', 'eth0');
  expect(left).toContainEqual({
    where: '10.41.0.0/23',
    what: 'the network',
    why: 'a network behind a relay needs a router: add it to the file and import again',
  });
});

test('a domain that is none is left out with a word, and the rest is taken', () => {
  const { toml, left } = importConfig(
    'dhcp-range=10.20.0.100,10.20.0.120\ndomain=no domain\ndhcp-option=119,good.example,not..good',
    { address: '10.20.0.1', interface: 'eth0' },
  );
  expect(parseConfig(toml).provisioning).toMatchObject({ search: ['good.example'] });
  expect(left.map(({ where }) => where)).toEqual(['option 119', 'option 15']);
});

test.each([
  ['10.99.0.1', 'eth0', 'address'],
  ['nonsense', 'eth0', 'address'],
  ['10.40.0.1', undefined, 'interface'],
])('the place %s, %s is refused by %s', (address, device, field) => {
  expect(refused('dhcpd.conf', address, device)).toMatchObject({
    code: 'INVALID_INPUT',
    details: { path: field },
  });
});

test('bcd site import writes a new file, tells what it left, and overwrites nothing', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'import-'));
  const output = path.join(directory, 'config.toml');
  const words = ['site', 'import', fixture('kea-dhcp4.conf'), '--address', '10.60.0.1', '--output', output];
  await run('bin/bcd', words);
  expect(parseConfig(await readFile(output, 'utf8')).provisioning.hosts).toMatchObject([
    { mac: '52:54:00:12:34:56', options: [{ number: 26, hex: '0578' }] },
  ]);
  await expect(run('bin/bcd', words)).rejects.toThrow(/CONFLICT/);
});
