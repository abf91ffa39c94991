import { run } from '#base/command.ts';
import { removeNamespaces, runIn } from '#rack/netns.ts';

/** A site's network, a router with a relay agent, and a network behind it with one client, in three namespaces. */
export interface RelayedNetwork {
  site: { namespace: string; interfaceName: string; address: string };
  router: { namespace: string; up: string; down: string; upAddress: string; downAddress: string };
  client: { namespace: string; interfaceName: string; mac: string };
  close(): Promise<void>;
}

export async function openRelayedNetwork(prefix: string): Promise<RelayedNetwork> {
  const site = { namespace: `${prefix}-site`, interfaceName: 'prov0', address: '10.77.0.1' };
  const router = {
    ...{ namespace: `${prefix}-router`, up: 'up0', down: 'down0' },
    ...{ upAddress: '10.77.0.2', downAddress: '10.79.0.1' },
  };
  const client = { namespace: `${prefix}-client`, interfaceName: 'client0', mac: '02:00:00:00:00:01' };
  const namespaces = [site.namespace, router.namespace, client.namespace];
  await removeNamespaces(namespaces);
  for (const name of namespaces) await run('ip', ['netns', 'add', name]);
  const ip = (namespace: string, ...args: string[]) => runIn(namespace, ['ip', ...args]);
  const wire = (namespace: string, name: string, peer: string, far: string) =>
    ip(namespace, 'link', 'add', name, 'type', 'veth', 'peer', 'name', peer, 'netns', far);
  await wire(site.namespace, site.interfaceName, router.up, router.namespace);
  await wire(router.namespace, router.down, client.interfaceName, client.namespace);
  await ip(client.namespace, 'link', 'set', client.interfaceName, 'address', client.mac);
  for (const [namespace, name, address] of [
    [site.namespace, site.interfaceName, site.address],
    [router.namespace, router.up, router.upAddress],
    [router.namespace, router.down, router.downAddress],
  ] as const)
    await ip(namespace, 'addr', 'add', `${address}/24`, 'dev', name);
  for (const [namespace, ...links] of [
    [site.namespace, 'lo', site.interfaceName],
    [router.namespace, 'lo', router.up, router.down],
    [client.namespace, 'lo', client.interfaceName],
  ] as const)
    for (const link of links) await ip(namespace, 'link', 'set', link, 'up');
  await ip(site.namespace, 'route', 'add', '10.79.0.0/24', 'via', router.upAddress);
  await runIn(router.namespace, ['sysctl', '-qw', 'net.ipv4.ip_forward=1']);
  return { site, router, client, close: () => removeNamespaces(namespaces) };
}
