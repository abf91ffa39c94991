import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDnsmasq } from '#agent/site/import/dnsmasq.ts';
import { readIsc } from '#agent/site/import/isc/read.ts';
import { readKea } from '#agent/site/import/kea.ts';
import { hasCode } from '#contract/errors.ts';

const fixture = (name: string) => readFileSync(`test/fixtures/import/${name}`, 'utf8');

const addresses = (number: number, ...list: string[]) => ({
  number,
  value: { kind: 'addresses', addresses: list },
});
const text = (number: number, value: string) => ({ number, value: { kind: 'text', text: value } });
const bytes = (number: number, hex: string) => ({ number, value: { kind: 'bytes', hex } });
const route = (destination: string, router: string) => ({
  number: 121,
  value: { kind: 'routes', routes: [{ destination, router }] },
});
const names = (...list: string[]) => ({ number: 119, value: { kind: 'names', names: list } });

test('dnsmasq: two ranges of one network, its options by tag and in general, reservations', () => {
  const { networks, hosts } = readDnsmasq(fixture('dnsmasq.conf'));
  expect(networks).toHaveLength(2);
  expect(networks[0]).toEqual({
    network: '10.20.0.0',
    prefixLength: 24,
    leaseSeconds: 43_200,
    ranges: [
      { first: '10.20.0.100', last: '10.20.0.180' },
      { first: '10.20.0.200', last: '10.20.0.220' },
    ],
    options: [
      addresses(6, '10.20.0.2', '10.20.0.3'),
      names('lab.example', 'example'),
      addresses(3, '10.20.0.1'),
      addresses(42, '10.20.0.4'),
      route('10.30.0.0/16', '10.20.0.9'),
      bytes(26, '2328'),
      text(15, 'lab.example'),
    ],
  });
  expect(networks[1]).toMatchObject({ network: '10.21.0.0', prefixLength: 23, ranges: [] });
  expect(hosts).toEqual([
    { mac: '52:54:00:12:34:56', address: '10.20.0.11', hostname: 'rack1-node1', options: [] },
    { mac: '52:54:00:aa:bb:cc', address: '10.20.0.12', hostname: 'rack1-node2', options: [] },
    { mac: '52:54:00:aa:bb:cd', hostname: 'rack1-node2', options: [] },
    { clientId: '64656164', address: '10.20.0.13', options: [] },
  ]);
});

test('dnsmasq: every line that is not taken over is named with its reason', () => {
  const { left } = readDnsmasq(fixture('dnsmasq.conf'));
  expect(left.map(({ where, what }) => `${where}: ${what}`)).toEqual([
    'line 15: dhcp-option=vendor:PXEClient,6,2b',
    'line 16: dhcp-host=52:54:00:12:34:56,10.20.0.11,rack1-node1,infinite',
    'line 17: dhcp-host=52-54-00-AA-BB-CC,52:54:00:aa:bb:cd,10.20.0.12,rack1-node2',
    'line 19: dhcp-host=52:54:00:00:00:99,ignore',
    'line 20: dhcp-boot=pxelinux.0',
    'line 21: enable-tftp',
    'line 22: address=/boot.example/10.20.0.1',
    'line 14: dhcp-option=tag:nowhere,3,10.20.0.7',
  ]);
});

test('ISC: options go from the file to the subnets, of a group to its hosts; inner ones count', () => {
  const { networks, hosts } = readIsc(fixture('dhcpd.conf'));
  expect(networks).toEqual([
    {
      network: '10.40.0.0',
      prefixLength: 24,
      leaseSeconds: 7200,
      ranges: [
        { first: '10.40.0.160', last: '10.40.0.170' },
        { first: '10.40.0.100', last: '10.40.0.150' },
      ],
      options: [
        text(15, 'dc.example'),
        addresses(3, '10.40.0.1'),
        addresses(6, '10.40.0.2', '10.40.0.3'),
        names('dc.example', 'example'),
        addresses(42, '10.40.0.4'),
        text(252, 'http://proxy.example/wpad.dat'),
        route('10.50.0.0/16', '10.40.0.9'),
      ],
    },
    {
      network: '10.41.0.0',
      prefixLength: 23,
      leaseSeconds: 600,
      ranges: [{ first: '10.41.0.10', last: '10.41.0.20' }],
      options: [text(15, 'dc.example'), addresses(42, '10.41.0.4')],
    },
  ]);
  expect(hosts).toEqual([
    { mac: '52:54:00:12:34:56', address: '10.40.0.11', hostname: 'node-one', options: [bytes(26, '2328')] },
  ]);
});

test('ISC: what is not taken over is named with its reason', () => {
  const { left } = readIsc(fixture('dhcpd.conf'));
  const told = left.map(({ where, what, why }) => `${where}: ${what}: ${why}`);
  expect(told).toContain(
    'line 19: filename "pxelinux.0": the site answers boot by itself, for every kind of firmware',
  );
  expect(told).toContain('line 24: subnet 10.42.0.0 netmask 255.255.255.1: its network or netmask is none');
  expect(told).toContain('line 26: class "pxe": has no counterpart in a site');
  expect(told).toContain('line 30: hardware ethernet 52:54:0:12:34:57: no Ethernet address of a host');
  expect(told).toContain('line 32: hardware infiniband 80:00:00:48: no Ethernet address of a host');
});

test('Kea: subnets, shared networks, pools as ranges and prefixes, options by name, number and bytes', () => {
  const { networks, hosts, left } = readKea(fixture('kea-dhcp4.conf'));
  expect(networks).toEqual([
    {
      network: '10.60.0.0',
      prefixLength: 24,
      interface: 'eth1',
      leaseSeconds: 4000,
      ranges: [
        { first: '10.60.0.100', last: '10.60.0.120' },
        { first: '10.60.0.128', last: '10.60.0.191' },
      ],
      options: [
        addresses(3, '10.60.0.1'),
        addresses(42, '10.60.0.4', '10.60.0.5'),
        route('10.70.0.0/16', '10.60.0.9'),
        bytes(224, '0102ff'),
        text(15, 'kea.example'),
      ],
    },
    {
      network: '10.61.0.0',
      prefixLength: 24,
      leaseSeconds: 60,
      ranges: [],
      options: [addresses(42, '10.61.0.4'), text(15, 'kea.example')],
    },
  ]);
  expect(hosts).toEqual([
    { mac: '52:54:00:12:34:56', address: '10.60.0.11', hostname: 'k1', options: [bytes(26, '0578')] },
  ]);
  expect(left.map(({ where }) => where)).toEqual([
    'Dhcp4.subnet4[0].option-data[4]',
    'Dhcp4.subnet4[0].reservations[1]',
    'Dhcp4.shared-networks[0].subnet4[0].pools[0]',
    'Dhcp4.client-classes',
  ]);
});

test('dnsmasq: a range beyond 256 addresses makes the least network that holds it; names and IPv6 addresses of hosts', () => {
  const { networks, hosts } = readDnsmasq(
    'dhcp-range=10.0.0.50,10.0.3.200,12h\ndhcp-host=02:00:00:00:00:01,[fd00::1],10.0.0.7,my_host.example',
  );
  expect(networks).toMatchObject([{ network: '10.0.0.0', prefixLength: 22 }]);
  expect(hosts).toMatchObject([{ address: '10.0.0.7', address6: 'fd00::1', hostname: 'my_host.example' }]);
});

test('ISC: what counts for one pool alone, and who is not served, is named', () => {
  const { hosts, left } = readIsc(`subnet 10.0.0.0 netmask 255.255.255.0 {
    pool { range 10.0.0.100 10.0.0.200; option routers 10.0.0.254; default-lease-time 60; deny unknown-clients; }
    pool { range 10.0.0.10 10.0.0.20; allow members of "x"; allow booting; }
    ignore booting;
  }
  host a { option dhcp-client-identifier ff:00:1; fixed-address 10.0.0.9; }`);
  expect(left.map(({ what }) => what).sort()).toEqual([
    'allow members of "x"',
    'deny unknown-clients',
    'ignore booting',
    'pool',
  ]);
  expect(hosts).toMatchObject([{ clientId: 'ff0001', address: '10.0.0.9', hostname: 'a' }]);
});

test('Kea: every word without a counterpart is named by its path', () => {
  const subnet = {
    ...{ subnet: '10.0.0.0/24', 'client-class': 'KNOWN', relay: { 'ip-addresses': ['10.9.9.9'] } },
    pools: [
      {
        pool: '10.0.0.10-10.0.0.20',
        'client-class': 'A',
        'option-data': [{ name: 'routers', data: '10.0.0.254' }],
      },
    ],
    reservations: [
      { 'hw-address': '02:00:00:00:00:01', 'client-classes': ['special'], 'boot-file-name': 'z' },
    ],
  };
  const { left } = readKea(
    JSON.stringify({ Dhcp4: { 'option-def': [{}], 'next-server': '10.0.0.9', subnet4: [subnet] } }),
  );
  expect(left.map(({ where }) => where).sort()).toEqual([
    'Dhcp4.next-server',
    'Dhcp4.option-def',
    'Dhcp4.subnet4[0].client-class',
    'Dhcp4.subnet4[0].pools[0].client-class',
    'Dhcp4.subnet4[0].pools[0].option-data',
    'Dhcp4.subnet4[0].relay',
    'Dhcp4.subnet4[0].reservations[0].boot-file-name',
    'Dhcp4.subnet4[0].reservations[0].client-classes',
  ]);
});

test.each([readDnsmasq, readIsc])('%o takes any text without an exception', (read) => {
  const words = fc.constantFrom(
    'subnet',
    'host',
    '{',
    '}',
    ';',
    '"',
    'option',
    'range',
    '10.0.0.1',
    '255.255.255.0',
    'dhcp-host=',
    'dhcp-option=',
    ',',
    '\n',
    'netmask',
    'hardware',
    'ethernet',
    'tag:',
    '__proto__',
    'constructor',
  );
  fc.assert(fc.property(fc.array(fc.oneof(words, fc.string())), (parts) => void read(parts.join(' '))));
});

test('Kea: any text is an import or INVALID_INPUT', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json().map((json) => `{"Dhcp4": ${json}}`),
        fc.json().map((json) => `{"Dhcp4":{"subnet4":[${json}],"option-data":[${json}]}}`),
      ),
      (content) => {
        try {
          readKea(content);
        } catch (error) {
          expect(hasCode(error, 'INVALID_INPUT')).toBe(true);
        }
      },
    ),
  );
});
