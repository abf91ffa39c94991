import { run } from '#base/command.ts';
import { listNamespaces, processesIn, runIn } from '#rack/netns.ts';

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
  await remove(namespaces);
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
    close: () => remove(namespaces),
  };
}

/** Dropped where they arrive: where they leave, the sender would be told. */
async function lose({ server, client }: Pick<Wire, 'server' | 'client'>, percent: number): Promise<void> {
  const segments = percent === 0 ? '65535' : '1';
  await runIn(server.namespace, ['ip', 'link', 'set', server.interfaceName, 'gso_max_segs', segments]);
  const chain = `type filter hook input priority 0; meta l4proto udp numgen random mod 1000 < ${percent * 10} drop;`;
  for (const { namespace } of [server, client]) {
    await runIn(namespace, ['nft', 'flush', 'ruleset']);
    if (percent === 0) continue;
    await runIn(namespace, ['nft', '-f', '-'], { input: `table inet loss {\nchain input { ${chain} }\n}\n` });
  }
}

async function remove(namespaces: readonly string[]): Promise<void> {
  const present = await listNamespaces();
  for (const name of namespaces.filter((one) => present.includes(one))) {
    for (const pid of await processesIn(name)) if (pid !== process.pid) end(pid);
    await run('ip', ['netns', 'delete', name]);
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
