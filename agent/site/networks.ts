import { known } from '#base/known.ts';
import type { BootNetwork, RelayedNetwork } from '#bootserver/bootServer.ts';
import type { Subnet } from '#bootserver/dhcp/address.ts';
import type { FurtherOption, NetworkSettings } from '#bootserver/dhcp/network.ts';
import { durationMs } from '#contract/durations.ts';
import type { SiteConfig } from './configSchema/index.ts';
import type { RawOption } from './configSchema/networkSettings.ts';
import { machinePlace6, ownNetworks6 } from './networks6.ts';

type Provisioning = SiteConfig['provisioning'];
type Configured = Provisioning | Provisioning['subnets'][number];
type Settings = Configured | Provisioning['hosts'][number];

/** The networks that a site has an interface on, the main one first. */
export function ownNetworks({
  provisioning,
  machine,
}: Pick<SiteConfig, 'provisioning' | 'machine'>): Omit<BootNetwork, 'sockets'>[] {
  return [provisioning, ...provisioning.subnets].flatMap((network) => {
    const { interface: name, address, prefixLength } = network;
    if (name === undefined || address === undefined) return [];
    return {
      ...common(network, provisioning),
      interface: name,
      address,
      prefixLength,
      router: network.router ?? address,
      machineUrl: `https://${machine.listen ?? machinePlace(address)}`,
    };
  });
}

/** Where ramdisks join: on every network of ours, or at the one place that the configuration names. */
export function machineListens({
  provisioning,
  machine,
}: Pick<SiteConfig, 'provisioning' | 'machine'>): string[] {
  if (machine.listen !== undefined) return [machine.listen];
  return [
    ...ownNetworks({ provisioning, machine }).map(({ address }) => machinePlace(address)),
    ...ownNetworks6({ provisioning, machine }).map(({ address }) => machinePlace6(address)),
  ];
}

function machinePlace(address: string): string {
  return `${address}:8443`;
}

/** The networks that are reached through relay agents only. */
export function relayedNetworks(provisioning: Provisioning): RelayedNetwork[] {
  return provisioning.subnets.flatMap((network) =>
    network.relayed === undefined
      ? []
      : { ...common(network, provisioning), subnet: cidrSubnet(network.relayed) },
  );
}

/** The addresses of a network in the configuration, which has been checked. */
export function subnetOf(network: Configured): Subnet {
  const relayed = 'relayed' in network ? network.relayed : undefined;
  if (relayed !== undefined) return cidrSubnet(relayed);
  return { address: network.address ?? '0.0.0.0', prefixLength: network.prefixLength };
}

/** The settings as the boot server takes them; what is not said is left out. */
export function networkSettings(settings: Settings): NetworkSettings {
  const { router, dns, domain, search, ntp, routes, options, quirks } = settings;
  return known({
    router,
    dns,
    domain,
    search,
    ntp,
    routes: routes?.map(({ to, via }) => ({ to: cidrSubnet(to), via })),
    options: options?.map(furtherOption),
    quirks,
  });
}

/** What a subnet does not say for itself is as in `[provisioning]`, but for what belongs to one network: router, routes and pool. */
function common(
  network: Configured,
  main: Provisioning,
): Pick<BootNetwork, 'mode' | 'leaseSeconds'> & NetworkSettings {
  const { poolStart: first, poolEnd: last } = network;
  const { router: _, routes: __, ...inherited } = networkSettings(main);
  return {
    mode: network.mode,
    ...inherited,
    ...networkSettings(network),
    leaseSeconds: durationMs(network.leaseTime ?? main.leaseTime) / 1000,
    ...(first !== undefined && last !== undefined && { pool: { first, last } }),
  };
}

function cidrSubnet(cidr: string): Subnet {
  const [address = '', prefixLength] = cidr.split('/');
  return { address, prefixLength: Number(prefixLength) };
}

function furtherOption({ number, text, hex, addresses, vendorClass }: RawOption): FurtherOption {
  const value =
    hex !== undefined
      ? Buffer.from(hex.replaceAll(/[ :]/g, ''), 'hex')
      : addresses !== undefined
        ? Buffer.concat(addresses.map(addressBytes))
        : Buffer.from(text ?? '');
  return { number, value, ...known({ vendorClass }) };
}

function addressBytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}
