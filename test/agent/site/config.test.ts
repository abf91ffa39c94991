import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseConfig, sizeBytes } from '#agent/site/config.ts';
import { configurationPage } from '#agent/site/configPage.ts';
import { localHosts } from '#agent/site/localHosts.ts';
import { ownNetworks, relayedNetworks } from '#agent/site/networks.ts';
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
])('networks and hosts that contradict each other are refused: %#', (toml, path) => {
  expect(refused(toml)).toMatchObject({ code: 'INVALID_CONFIG', details: { path } });
});

test.each([
  ['', 'provisioning'],
  [least.replace('interface', 'interfaces'), 'provisioning.interface'],
  [`${least}mtu = 1500`, 'provisioning.mtu'],
  [least.replace('"prov"', '7'), 'provisioning.interface'],
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
