import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseConfig, sizeBytes } from '#agent/site/config.ts';
import { configurationPage } from '#agent/site/configPage.ts';
import { localHosts } from '#agent/site/localHosts.ts';
import { machineListens, ownNetworks, relayedNetworks } from '#agent/site/networks.ts';
import { ownNetworks6, relayedNetworks6 } from '#agent/site/networks6.ts';
import { socketUnits } from '#agent/site/socketUnits.ts';
import { RailheadError } from '#contract/errors.ts';

const least = `
[provisioning]
interface = "prov"
address = "10.77.0.1"
poolStart = "10.77.0.100"
poolEnd = "10.77.0.200"
`;

const refused = (toml: string): unknown => {
  try {
    return parseConfig(toml);
  } catch (error) {
    return error;
  }
};

test('the least configuration gets every default', () => {
  expect(parseConfig(least)).toMatchObject({
    stateDirectory: '/var/lib/bcd',
    provisioning: { mode: 'full', prefixLength: 24, leaseTime: '1h', subnets: [], hosts: [] },
    boot: { httpPort: 8080, dhcpPort: 67 },
    admin: { listen: '127.0.0.1:9090' },
    cache: { quota: '50GiB', parallelPulls: 2 },
  });
});

test('a configuration cannot be changed after it was read', () => {
  const config = parseConfig(least);
  expect(Object.isFrozen(config.provisioning)).toBe(true);
  expect(Object.isFrozen(config.provisioning.subnets)).toBe(true);
});

const more = `${least}
domain = "rack.example"
[[provisioning.subnets]]
interface = "prov1"
address = "10.78.0.1"
[[provisioning.subnets]]
relayed = "10.79.0.0/24"
router = "10.79.0.1"
poolStart = "10.79.0.100"
poolEnd = "10.79.0.200"
domain = "far.example"
routes = [{ to = "10.0.0.0/8", via = "10.79.0.2" }]
[[provisioning.hosts]]
mac = "02-00-00-00-00-0A"
address = "10.78.0.20"
options = [{ number = 150, addresses = ["10.78.0.1"] }, { number = 43, hex = "01 02" }]
`;

test('further networks are on an interface or behind a relay, and inherit what they do not say', () => {
  const { provisioning, machine } = parseConfig(more);
  expect(ownNetworks({ provisioning, machine })).toMatchObject([
    { interface: 'prov', router: '10.77.0.1', domain: 'rack.example', machineUrl: 'https://10.77.0.1:8443' },
    { interface: 'prov1', router: '10.78.0.1', domain: 'rack.example', machineUrl: 'https://10.78.0.1:8443' },
  ]);
  expect(relayedNetworks(provisioning)).toMatchObject([
    {
      subnet: { address: '10.79.0.0', prefixLength: 24 },
      router: '10.79.0.1',
      domain: 'far.example',
      pool: { first: '10.79.0.100', last: '10.79.0.200' },
      routes: [{ to: { address: '10.0.0.0', prefixLength: 8 }, via: '10.79.0.2' }],
    },
  ]);
});

const six = `${least}
[provisioning.ipv6]
address = "FD77:0::1"
poolStart = "fd77::100"
poolEnd = "fd77::1ff"
[[provisioning.subnets]]
relayed = "10.79.0.0/24"
router = "10.79.0.1"
[provisioning.subnets.ipv6]
relayed = "fd79::/64"
poolStart = "fd79::100"
poolEnd = "fd79::1ff"
dns = ["fd79::53"]
[[provisioning.hosts]]
mac = "02:00:00:00:00:0a"
address6 = "FD77::20"
`;

test('IPv6 is served on a network of ours and to one behind a relay, addresses in one spelling', () => {
  const config = parseConfig(six);
  expect(ownNetworks6(config)).toEqual([
    {
      ...{ mode: 'full', interface: 'prov', address: 'fd77::1', prefixLength: 64, preference: 0 },
      ...{ pool: { first: 'fd77::100', last: 'fd77::1ff' }, dns: [], search: [], leaseSeconds: 3600 },
      machineUrl: 'https://[fd77::1]:8443',
    },
  ]);
  expect(relayedNetworks6(config.provisioning)).toMatchObject([
    { address: 'fd79::', prefixLength: 64, dns: ['fd79::53'] },
  ]);
  expect(machineListens(config)).toEqual(['10.77.0.1:8443', '[fd77::1]:8443']);
  const hosts = localHosts(config.provisioning.hosts);
  expect(hosts.reservation('1/02:00:00:00:00:0a')?.address6).toBe('fd77::20');
  expect(hosts.isReserved('fd77::20')).toBe(true);
});

test.each([
  [six.replace('FD77:0::1', 'fe80::1'), 'provisioning.ipv6.address'],
  [six.replace('address = "FD77:0::1"', ''), 'provisioning.ipv6.address'],
  [six.replace('poolStart = "fd77::100"', ''), 'provisioning.ipv6.poolStart'],
  [six.replace('"fd77::100"', '"fd77::"'), 'provisioning.ipv6.poolStart'],
  [six.replace('"fd77::1ff"', '"fd77::ff"'), 'provisioning.ipv6.poolEnd'],
  [six.replace('"fd77::1ff"', '"fd77::1:1ff"'), 'provisioning.ipv6.poolEnd'],
  [six.replace('"fd77::1ff"', '"fd78::1ff"'), 'provisioning.ipv6.poolEnd'],
  [six.replace('"fd77::100"', '"fd77::1"'), 'provisioning.ipv6.poolStart'],
  [six.replace('fd79::/64', 'fd79::1/64'), 'provisioning.subnets[0].ipv6.relayed'],
  [six.replace('fd79::53', 'fd79::5::3'), 'provisioning.subnets[0].ipv6.dns[0]'],
  [six.replace('FD77::20', 'fd78::20'), 'provisioning.hosts[0].address6'],
  [six.replaceAll('fd79::', 'fd77::'), 'provisioning.subnets[0].ipv6'],
])('an IPv6 network that contradicts itself is refused: %#', (toml, path) => {
  expect(refused(toml)).toMatchObject({ code: 'INVALID_CONFIG', details: { path } });
});

test.each([
  '10.77.0.1:69',
  '10.77.0.1:67',
  '[fd77::1]:547',
  '10.77.0.1:4011',
  '10.77.0.1:0',
  '10.77.0.300:514',
])('syslog is not taken at %s', (listen) => {
  const toml = `${least}[syslog]\nlisten = "${listen}"\n`;
  expect(refused(toml)).toMatchObject({ code: 'INVALID_CONFIG', details: { path: 'syslog.listen' } });
});

test('a machine of the configuration is known by its hardware address', () => {
  const hosts = localHosts(parseConfig(more).provisioning.hosts);
  expect(hosts.reservation('1/02:00:00:00:00:0a')).toMatchObject({
    address: '10.78.0.20',
    options: [
      { number: 150, value: Buffer.from([10, 78, 0, 1]) },
      { number: 43, value: Buffer.from([1, 2]) },
    ],
  });
  expect(hosts.isReserved('10.78.0.20')).toBe(true);
});

/** A network of the site's own, and one behind a relay. */
function relayedBesideOwn(own: string, relayed: string): string {
  return `${least.replace('interface', `mode = "${own}"\ninterface`)}
[[provisioning.subnets]]
mode = "${relayed}"
relayed = "10.79.0.0/24"
router = "10.79.0.1"
`;
}

test('a network behind a relay is served beside an own one of mode off: port 67 is opened for it', () => {
  const config = parseConfig(relayedBesideOwn('off', 'full'));
  const names = (some: typeof config) =>
    socketUnits(some)
      .map(({ name }) => name)
      .join();
  expect(names(config)).toContain('dhcp');
  const without = parseConfig(relayedBesideOwn('off', '4011-only'));
  expect(names(without)).not.toContain('dhcp');
});

test.each([
  [more.replace('prov1', 'prov'), 'provisioning.subnets[0].interface'],
  [more.replace('interface = "prov1"', ''), 'provisioning.subnets[0].interface'],
  [more.replace('address = "10.78.0.1"\n', ''), 'provisioning.subnets[0].address'],
  [more.replace('address = "10.78.0.1"\n', 'address = "10.77.0.2"\n'), 'provisioning.subnets[0].address'],
  [more.replace('10.79.0.0/24', '10.79.0.1/24'), 'provisioning.subnets[1].relayed'],
  [more.replace('10.79.0.0/24', '10.0.0.0/8'), 'provisioning.subnets[1].relayed'],
  [more.replace('router = "10.79.0.1"\n', ''), 'provisioning.subnets[1].router'],
  [more.replace('via = "10.79.0.2"', 'via = "10.77.0.2"'), 'provisioning.subnets[1].routes[0].via'],
  [more.replace('10.0.0.0/8', '10.0.0.0/33'), 'provisioning.subnets[1].routes[0].to'],
  [more.replace('10.78.0.20', '10.80.0.20'), 'provisioning.hosts[0].address'],
  [more.replace('mac = "02-00-00-00-00-0A"', ''), 'provisioning.hosts[0]'],
  [more.replace('number = 43', 'number = 53'), 'provisioning.hosts[0].options[1].number'],
  [more.replace('hex = "01 02"', 'hex = "01", text = "x"'), 'provisioning.hosts[0].options[1]'],
  [`${more}[[provisioning.hosts]]\nmac = "02:00:00:00:00:0a"`, 'provisioning.hosts[1].mac'],
  [relayedBesideOwn('4011-only', 'full'), 'provisioning.subnets[0].mode'],
  [relayedBesideOwn('4011-only', 'proxy'), 'provisioning.subnets[0].mode'],
])('networks and hosts that contradict each other are refused: %#', (toml, path) => {
  expect(refused(toml)).toMatchObject({ code: 'INVALID_CONFIG', details: { path } });
});

test.each([
  ['', 'provisioning'],
  [least.replace('interface', 'interfaces'), 'provisioning.interface'],
  [`${least}mtu = 1500`, 'provisioning.mtu'],
  [least.replace('"prov"', '7'), 'provisioning.interface'],
  ...['a%i', "'a\"b'", 'a\\\\b', 'a$b', 'a:1'].map((name) => [
    least.replace('"prov"', name.startsWith("'") ? name : `"${name}"`),
    'provisioning.interface',
  ]),
  [least.replace('10.77.0.1"', '10.77.0.256"'), 'provisioning.address'],
  [least.replace('10.77.0.100', '10.78.0.100'), 'provisioning.poolStart'],
  [least.replace('10.77.0.200', '10.77.1.200'), 'provisioning.poolEnd'],
  [least.replace('10.77.0.200', '10.77.0.99'), 'provisioning.poolEnd'],
  [least.replace('10.77.0.100', '10.77.0.1'), 'provisioning.poolStart'],
  [least.replace('10.77.0.1"', '10.77.0.0"'), 'provisioning.address'],
  [least.replace('10.77.0.200', '10.77.0.255'), 'provisioning.poolEnd'],
  [`${least}router = "999.999.999.999"`, 'provisioning.router'],
  [`${least}router = "10.78.0.1"`, 'provisioning.router'],
  [`${least}dns = ["10.0.0.1", "300.1.1.1"]`, 'provisioning.dns[1]'],
  [`${least}leaseTime = "10s"`, 'provisioning.leaseTime'],
  [`${least}leaseTime = "9999999h"`, 'provisioning.leaseTime'],
  [`${least}leaseTime = 10`, 'provisioning.leaseTime'],
  [`${least}[boot]\nhttpPort = 0`, 'boot.httpPort'],
  [`${least}[admin]\nlisten = "9090"`, 'admin.listen'],
  [`${least}[admin]\nlisten = "127.0.0.1:99999"`, 'admin.listen'],
  [`${least}[machine]\nlisten = "999.1.1.1:8443"`, 'machine.listen'],
  [`${least}[machine]\nlisten = "0.0.0.0:8080"`, 'machine.listen'],
  [`${least}[admin]\nlisten = "10.77.0.1:8443"`, 'admin.listen'],
  [`${least}[boot]\ntftpPort = 67`, 'boot.tftpPort'],
  [`${least}[central]\nurl = "https://a b"`, 'central.url'],
  [`${least}[central]\nurl = "http://centre"`, 'central.url'],
  [`${least}[bmc]\nmediaUrl = "http://[::1"`, 'bmc.mediaUrl'],
  [`${least}[bmc]\nmediaUrl = "http://192.0.2.10:8080/images"`, 'bmc.mediaUrl'],
  [`${least}[bmc]\nmediaFrom = "both"`, 'bmc.mediaFrom'],
  [`${least}[cache]\nquota = "50G"`, 'cache.quota'],
])('a wrong configuration names its field: %#', (toml, path) => {
  expect(refused(toml)).toMatchObject({ code: 'INVALID_CONFIG', details: { path } });
});

test('text that is no TOML says where', () => {
  expect(refused(`${least}x = = 1`)).toMatchObject({ code: 'INVALID_CONFIG', details: { line: 7 } });
});

test('no text makes the reader fail in another way', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const outcome = refused(text);
      return outcome instanceof RailheadError && outcome.code === 'INVALID_CONFIG';
    }),
  );
});

test('sizes are in powers of 1024', () => {
  expect([sizeBytes('1MiB'), sizeBytes('50GiB'), sizeBytes('2TiB')]).toEqual([
    2 ** 20,
    50 * 2 ** 30,
    2 ** 41,
  ]);
});

test('docs/configuration.md is what the schema says; `vitest -u` writes it', async () => {
  await expect(configurationPage()).toMatchFileSnapshot('../../../docs/configuration.md');
});
