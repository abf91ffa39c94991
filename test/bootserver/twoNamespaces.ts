import { afterAll, beforeAll } from 'vitest';
import { run } from '#base/command.ts';
import { enterNamespace } from '#rack/enterNamespace.ts';
import { listNamespaces, removeNamespaces, runIn } from '#rack/netns.ts';
import { atRandom, dropDatagrams } from '../fakes/lossyNamespace.ts';

/** A wire between two network namespaces: this process is at the server's end, foreign programs at the client's. */
export interface Wire {
  clientNamespace: string;
  /** Of the client's interface `client0`. */
  clientMac: string;
  server: { name: string; address: string; namespace: string };
  /** Drops `percent` of the datagrams in each direction; 0 stops that. */
  lose(percent: number): Promise<void>;
  /** Drops every nth datagram of the server, the same ones each time. */
  loseEvery(nth: number): Promise<void>;
}

const prefix = 'rhboot';

/** The wire of a test file: built before its tests, gone after them, also what a killed run left. */
export function useWire(): Wire {
  const names = { server: `${prefix}${process.pid}-s`, client: `${prefix}${process.pid}-c` };
  const server = { name: 'server0', address: '10.77.0.1', namespace: names.server };
  let leave: () => void = () => {};
  beforeAll(async () => {
    await removeStale();
    await build(names, server.address);
    leave = enterNamespace(names.server);
  });
  afterAll(async () => {
    leave();
    await removeNamespaces([names.server, names.client]);
  });
  return {
    clientNamespace: names.client,
    clientMac: '02:00:00:00:00:01',
    server,
    lose: async (percent) => {
      for (const namespace of [names.server, names.client]) await dropDatagrams(namespace, atRandom(percent));
    },
    loseEvery: (nth) => dropDatagrams(names.client, `inc mod ${nth} < 1`),
  };
}

async function build(names: { server: string; client: string }, address: string): Promise<void> {
  await run('ip', ['netns', 'add', names.server]);
  await run('ip', ['netns', 'add', names.client]);
  const inServer = (...args: string[]) => runIn(names.server, ['ip', ...args]);
  const inClient = (...args: string[]) => runIn(names.client, ['ip', ...args]);
  await inServer('link', 'add', 'server0', 'type', 'veth', 'peer', 'name', 'client0', 'netns', names.client);
  await inServer('addr', 'add', `${address}/24`, 'dev', 'server0');
  await inClient('link', 'set', 'client0', 'address', '02:00:00:00:00:01');
  // Datagrams that would cross a virtual wire as one are cut before it, as a network card does: each is lost by itself.
  await inServer('link', 'set', 'server0', 'gso_max_segs', '1');
  for (const link of ['lo', 'server0']) await inServer('link', 'set', link, 'up');
  for (const link of ['lo', 'client0']) await inClient('link', 'set', link, 'up');
}

async function removeStale(): Promise<void> {
  const stale = (await listNamespaces()).filter((name) => {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    return pid !== undefined && !isRunning(Number(pid));
  });
  await removeNamespaces(stale);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
