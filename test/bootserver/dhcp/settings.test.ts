import { expect, test } from 'vitest';
import type { DhcpNetwork } from '#bootserver/dhcp/network.ts';
import { Bench, network, optionOf } from './bench.ts';
import { ascii, clients, discover, rawOption } from './samples.ts';

const rich: DhcpNetwork = {
  ...network,
  domain: 'rack.example',
  search: ['rack.example', 'example'],
  ntp: ['10.77.0.2'],
  routes: [{ to: { address: '10.0.0.0', prefixLength: 8 }, via: '10.77.0.254' }],
  options: [
    { number: 150, value: Buffer.from([10, 77, 0, 1]) },
    { number: 43, value: Buffer.from([1, 2]), vendorClass: 'acme' },
  ],
};

function bench(): Bench {
  const bench = new Bench();
  bench.network = rich;
  return bench;
}

const asking = (...numbers: number[]) => ({ parameterList: Buffer.from(numbers) });

test('a client that asks is told domain, search list, time servers and routes', () => {
  const reply = bench().reply(discover(asking(15, 42, 119, 121)));
  expect(optionOf(reply, 'domainName')).toBe('rack.example');
  expect(optionOf(reply, 'domainSearch')).toEqual(['rack.example', 'example']);
  expect(optionOf(reply, 'ntpServers')).toEqual(['10.77.0.2']);
  expect(optionOf(reply, 'microsoftRoutes')).toBeUndefined();
});

test('the default route is among the static ones, since who takes those ignores the router (RFC 3442)', () => {
  const reply = bench().reply(discover(asking(3, 121)));
  expect(optionOf(reply, 'routers')).toEqual(['10.77.0.1']);
  expect(optionOf(reply, 'staticRoutes')).toEqual([
    { to: { address: '10.0.0.0', prefixLength: 8 }, via: '10.77.0.254' },
    { to: { address: '0.0.0.0', prefixLength: 0 }, via: '10.77.0.1' },
  ]);
});

test('a client that asks for other things is spared them', () => {
  const reply = bench().reply(discover({ ...asking(1, 3, 6), ...{} }, clients.bios));
  expect([15, 42, 119, 121].filter((number) => reply.options.has(number))).toEqual([]);
  expect(optionOf(reply, 'subnetMask')).toBe('255.255.255.0');
});

test('what the operator adds goes to all, or to a vendor class', () => {
  expect(bench().reply(discover()).options.get(150)).toEqual(Buffer.from([10, 77, 0, 1]));
  expect(rawOption(bench().reply(discover()), 'vendorSpecific')).toBeUndefined();
  const acme = bench().reply(discover({}, { 60: ascii('acme-7') }));
  expect(rawOption(acme, 'vendorSpecific')).toBe('0102');
});

test('what a machine has of its own goes before what its network has, a router of another network does not', () => {
  const one = bench();
  const own = { hostname: 'm1', domain: 'own.example', router: '10.99.0.1', dns: ['10.77.0.9'] };
  one.reserved.set('02:00:00:00:00:01', { address: '10.77.0.20', ...own });
  const reply = one.reply(discover());
  expect(reply.yiaddr).toBe('10.77.0.20');
  expect(optionOf(reply, 'hostname')).toBe('m1');
  expect(optionOf(reply, 'domainName')).toBe('own.example');
  expect(optionOf(reply, 'routers')).toEqual(['10.77.0.1']);
  expect(optionOf(reply, 'dnsServers')).toEqual(['10.77.0.9']);
});
