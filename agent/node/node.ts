import { openLog } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { version } from '#base/version.ts';
import { readIdentity } from '../join/identity.ts';

/**
 * The agent of an installed OS. Its join is what the centre waits for after a deploy; nothing is asked of a running node yet, so it
 * only holds the place of the service that will carry out such operations.
 * @throws RailheadError INVALID_STATE when this machine has not joined as a node
 */
export async function startNode(stateDirectory: string): Promise<Closable> {
  const { nodeId, server } = await readIdentity(stateDirectory, 'node');
  openLog('bcd').info(
    { version, nodeId, server },
    'joined; this version has no operations for a running node',
  );
  const alive = setInterval(() => {}, 2 ** 30);
  return { close: () => clearInterval(alive) };
}
