import { run } from '#base/command.ts';
import { removeNamespaces, runIn } from './netns.ts';
import type { RackNamespaces } from './record.ts';

/** Addresses of a rack. All of it lives in the rack's own namespaces, so that every rack can use the same. */
export const addresses = {
  site: '10.77.0.1',
  siteIPv6: 'fd77::1',
  mgmtGateway: '10.78.0.1',
  centreGateway: '10.79.0.1',
  centre: '10.79.0.2',
} as const;

export const provisioningBridge = 'prov';

/** The bridge of a VLAN in the site's namespace, where its frames have no tag. */
export function vlanBridge(id: number): string {
  return `vlan${id}`;
}

/** The site's address in a VLAN. */
export function vlanAddress(id: number): string {
  return `10.80.${id}.1`;
}

/** The address of a machine's BMC. */
export function bmcHost(index: number): string {
  return `10.78.0.${11 + index}`;
}

/**
 * Builds a rack's network: the site namespace with the provisioning bridge and one tap per machine, and the management
 * and centre namespaces, each joined to it by a veth; the site forwards between them.
 */
export async function buildNetwork(
  namespaces: RackNamespaces,
  machines: readonly { tap: string; bmcHost: string; vlans: readonly { id: number; tap: string }[] }[],
): Promise<void> {
  const { site, mgmt, centre } = namespaces;
  await addNamespaces([site, mgmt, centre]);
  const vlans = machines.flatMap((machine) => machine.vlans);
  await ipBatch(site, [
    ...siteLinks(namespaces),
    ...new Set(vlans.map(({ id }) => id)).values().flatMap(vlanLinks),
    ...machines.flatMap(({ tap }) => tapLink(tap, provisioningBridge)),
    ...vlans.flatMap(({ id, tap }) => tapLink(tap, vlanBridge(id))),
  ]);
  await ipBatch(mgmt, [
    ...machines.map(({ bmcHost: host }) => `address add ${host}/24 dev uplink`),
    ...uplink(addresses.mgmtGateway),
  ]);
  await ipBatch(centre, [
    `address add ${addresses.centre}/24 dev uplink`,
    ...uplink(addresses.centreGateway),
  ]);
  await runIn(site, ['sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward']);
}

/** Ends every process in the rack's namespaces and removes these with all that is in them. What is gone already is no error. */
export function removeNetwork(namespaces: RackNamespaces): Promise<void> {
  return removeNamespaces(Object.values(namespaces));
}

async function addNamespaces(names: readonly string[]): Promise<void> {
  for (const name of names) {
    await run('ip', ['netns', 'add', name]);
    await runIn(name, ['ip', 'link', 'set', 'lo', 'up']);
  }
}

function siteLinks({ mgmt, centre }: RackNamespaces): string[] {
  return [
    // An address of its own: a bridge otherwise takes the lowest of its ports and changes with them.
    `link add ${provisioningBridge} address 52:54:00:77:00:01 type bridge stp_state 0 forward_delay 0 mcast_snooping 0`,
    `address add ${addresses.site}/24 dev ${provisioningBridge}`,
    `address add ${addresses.siteIPv6}/64 dev ${provisioningBridge} nodad`,
    `link set ${provisioningBridge} up`,
    ...vethLinks('mgmt', mgmt, addresses.mgmtGateway),
    ...vethLinks('centre', centre, addresses.centreGateway),
  ];
}

function vethLinks(name: string, peerNamespace: string, address: string): string[] {
  return [
    `link add ${name} type veth peer name uplink netns ${peerNamespace}`,
    `address add ${address}/24 dev ${name}`,
    `link set ${name} up`,
  ];
}

function vlanLinks(id: number): string[] {
  const bridge = vlanBridge(id);
  return [
    `link add ${bridge} address 52:54:00:77:01:${id.toString(16).padStart(2, '0')} type bridge stp_state 0 forward_delay 0 mcast_snooping 0`,
    `address add ${vlanAddress(id)}/24 dev ${bridge}`,
    `link set ${bridge} up`,
  ];
}

function tapLink(tap: string, bridge: string): string[] {
  return [`tuntap add dev ${tap} mode tap`, `link set ${tap} master ${bridge} up`];
}

function uplink(gateway: string): string[] {
  return ['link set uplink up', `route add default via ${gateway}`];
}

async function ipBatch(namespace: string, commands: readonly string[]): Promise<void> {
  await runIn(namespace, ['ip', '-batch', '-'], { input: `${commands.join('\n')}\n` });
}
