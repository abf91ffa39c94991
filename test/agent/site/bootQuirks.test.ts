import { expect, test } from 'vitest';
import { parseConfig } from '#agent/site/config.ts';
import { localHosts } from '#agent/site/localHosts.ts';
import { ownNetworks } from '#agent/site/networks.ts';

const toml = `
stateDirectory = "/var/lib/bcd"
[provisioning]
interface = "prov0"
address = "10.77.0.1"
mode = "proxy"
[provisioning.quirks]
uefi-pxe = ["discovery-control"]
[[provisioning.subnets]]
interface = "prov1"
address = "10.78.0.1"
[[provisioning.subnets]]
interface = "prov2"
address = "10.79.0.1"
[provisioning.subnets.quirks]
any = ["option-66"]
[[provisioning.hosts]]
mac = "02:00:00:00:00:01"
[provisioning.hosts.quirks]
ipxe = ["chain-ipxe"]
`;

test('quirks of config.toml: those of [provisioning] hold for a subnet that has none of its own', () => {
  expect(ownNetworks(parseConfig(toml)).map(({ quirks }) => quirks)).toEqual([
    { 'uefi-pxe': ['discovery-control'] },
    { 'uefi-pxe': ['discovery-control'] },
    { any: ['option-66'] },
  ]);
});

test('a host has its own', () => {
  const { hosts } = parseConfig(toml).provisioning;
  expect(localHosts(hosts).reservation('1/02:00:00:00:00:01')?.quirks).toEqual({ ipxe: ['chain-ipxe'] });
});

test('a name that is no quirk is refused where it stands', () => {
  const wrong = toml.replace('discovery-control', 'no-such-quirk');
  expect(() => parseConfig(wrong)).toThrow(/provisioning\.quirks\.uefi-pxe/);
});
