import { openLog } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { version } from '#base/version.ts';
import { readIdentity } from '../join/identity.ts';
import { connectCentre } from '../site/link/centreClient.ts';
import { repeatForever } from '../site/link/retry.ts';
import type { NodeConfig } from './config.ts';
import { polling } from './polling.ts';
import { openKeptSpec } from './specFile.ts';

/**
 * Starts the agent of an installed OS: it holds a long poll at the centre, over mutual TLS in the name of its node, and keeps the desired
 * state that it is told. While the centre is away it keeps trying.
 * @throws RailheadError INVALID_STATE when this machine has not joined as a node
 */
export async function startNode(config: NodeConfig): Promise<Closable> {
  const log = openLog('bcd', config.logLevel);
  const identity = await readIdentity(config.stateDirectory, 'node');
  const { nodeId } = identity;
  const spec = await openKeptSpec(config.stateDirectory);
  const server = (config.central.url ?? identity.server).replace(/\/+$/, '');
  const client = connectCentre(server, identity);
  const stop = new AbortController();
  const { signal } = stop;
  log.info({ version, nodeId, server, generation: spec.generation() }, 'node agent starts');
  const poll = polling({ nodeId, client, spec, signal, log });
  const loop = repeatForever('polling the centre', poll, { signal, log });
  return {
    close: async () => {
      stop.abort();
      await loop;
      await client.close();
    },
  };
}
