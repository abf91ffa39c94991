import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { join } from '#agent/join/join.ts';
import { onHost } from '#central/host.ts';
import { createJoinToken } from '#central/join/joinTokens.ts';
import { centralPins } from '#central/join/pins.ts';
import type { Line } from '../../central/line.ts';

/** Lets the OS of a node join, as `bcd join` does, and keeps its identity in `stateDirectory`. */
export async function joinNode(
  { agentsUrl, directory }: Pick<Line, 'agentsUrl' | 'directory'>,
  nodeId: string,
  stateDirectory: string,
): Promise<void> {
  const tokenFile = path.join(stateDirectory, 'token');
  const pins = await onHost(directory, async ({ store, keys }) => {
    const { token } = await createJoinToken(store, { role: 'node', nodeId, validMs: 60_000 });
    await writeFile(tokenFile, token);
    return centralPins(keys);
  });
  await join({ server: agentsUrl, tokenFile, nodeId, stateDirectory, ...pins });
}
