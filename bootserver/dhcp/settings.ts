import { known } from '#base/known.ts';
import { inSubnet, netmask, noAddress } from './address.ts';
import type { DhcpNetwork, NetworkSettings, Reservation, StaticRoute } from './network.ts';
import { dhcpOptions, type OptionName, type OptionValues, readOption, writeOptions } from './options.ts';
import type { DhcpPacket } from './packet.ts';

/** Sent only to clients that ask for them, or that name nothing at all: a boot ROM has no use for them, and little room. */
const onRequest: readonly OptionName[] = [
  'domainName',
  'ntpServers',
  'domainSearch',
  'staticRoutes',
  'microsoftRoutes',
];

/** What a client is told of its network beside its lease: the machine's own settings, then the network's. */
export function settingsOptions(
  request: DhcpPacket,
  network: DhcpNetwork,
  reservation: Reservation = {},
): Map<number, Buffer> {
  const settings = { ...network, ...reservation, ...known({ router: routerOf(network, reservation) }) };
  const options = writeOptions(asked(request, values(settings, network)));
  for (const { number, value, vendorClass } of settings.options ?? [])
    if (isOfClass(request, vendorClass)) options.set(number, value);
  return options;
}

/** Of a machine with several networks the router of its own is meant for one of them. */
function routerOf({ router, subnet }: DhcpNetwork, reservation: Reservation): string | undefined {
  const own = reservation.router;
  return own !== undefined && inSubnet(own, subnet) ? own : router;
}

function values(settings: NetworkSettings & Reservation, { subnet }: DhcpNetwork): OptionValues {
  const { router, dns, domain, search, ntp, routes, hostname } = settings;
  const allRoutes = withDefault(routes, router);
  return {
    subnetMask: netmask(subnet.prefixLength),
    routers: router === undefined ? undefined : [router],
    dnsServers: some(dns),
    hostname,
    domainName: domain,
    ntpServers: some(ntp),
    domainSearch: some(search),
    staticRoutes: allRoutes,
    microsoftRoutes: allRoutes,
  };
}

/** Who takes these routes ignores the router option, so that the default route is among them (RFC 3442). */
function withDefault(
  routes: readonly StaticRoute[] | undefined,
  router: string | undefined,
): StaticRoute[] | undefined {
  if (!routes?.length) return undefined;
  const everywhere = { address: noAddress, prefixLength: 0 };
  return [...routes, ...(router === undefined ? [] : [{ to: everywhere, via: router }])];
}

function asked({ options }: DhcpPacket, all: OptionValues): OptionValues {
  const list = readOption(options, 'parameterList');
  const wanted = (name: OptionName) =>
    !onRequest.includes(name) ||
    (list === undefined ? name !== 'microsoftRoutes' : list.includes(dhcpOptions[name].number));
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted(name as OptionName)));
}

function isOfClass({ options }: DhcpPacket, vendorClass: string | undefined): boolean {
  if (vendorClass === undefined) return true;
  return readOption(options, 'vendorClass')?.startsWith(vendorClass) ?? false;
}

function some<Item>(items: readonly Item[] | undefined): Item[] | undefined {
  return items?.length ? [...items] : undefined;
}
