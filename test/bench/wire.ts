import { run } from '#base/command.ts';
import { removeNamespaces, runIn } from '#rack/netns.ts';
import { atRandom, dropDatagrams } from '../fakes/lossyNamespace.ts';

/** Two network namespaces with a wire between them, as a server and its clients have it. */
export interface Wire {
  server: { namespace: string; interfaceName: string; address: string };
  client: { namespace: string; interfaceName: string; address: string };
  /**
   * Drops `percent` of all UDP datagrams in each direction, at random; 0 stops that. Datagrams that the kernel would carry over a virtual
   * wire as one are cut before it, as a network card does, so that each one is lost by itself.
   */
  lose(percent: number): Promise<void>;
  /** Ends what still runs in both, and removes them. */
  close(): Promise<void>;
}

/** Builds the wire on `10.78.0.0` with that mask. What a killed run left is removed first. */
export async function openWire(prefix: string, prefixLength = 24): Promise<Wire> {
  const server = { namespace: `${prefix}-server`, interfaceName: 'server0', address: '10.78.0.1' };
  const client = { namespace: `${prefix}-client`, interfaceName: 'client0', address: '10.78.0.2' };
  const namespaces = [server.namespace, client.namespace];
  await removeNamespaces(namespaces);
  for (const name of namespaces) await run('ip', ['netns', 'add', name]);
  const inServer = (...args: string[]) => runIn(server.namespace, ['ip', ...args]);
  const peer = ['peer', 'name', client.interfaceName, 'netns', client.namespace];
  await inServer('link', 'add', server.interfaceName, 'type', 'veth', ...peer);
  for (const { namespace, interfaceName, address } of [server, client]) {
    await runIn(namespace, ['ip', 'addr', 'add', `${address}/${prefixLength}`, 'dev', interfaceName]);
    for (const link of ['lo', interfaceName]) await runIn(namespace, ['ip', 'link', 'set', link, 'up']);
  }
  return {
    server,
    client,
    lose: (percent) => lose({ server, client }, percent),
    close: () => removeNamespaces(namespaces),
  };
}

async function lose({ server, client }: Pick<Wire, 'server' | 'client'>, percent: number): Promise<void> {
  const segments = percent === 0 ? '65535' : '1';
  await runIn(server.namespace, ['ip', 'link', 'set', server.interfaceName, 'gso_max_segs', segments]);
  for (const { namespace } of [server, client]) await dropDatagrams(namespace, atRandom(percent));
}
