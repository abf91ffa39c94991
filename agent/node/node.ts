import { RailheadError } from '#contract/errors.ts';

/** Keeps an installed OS known to the centre. */
export async function startNode(stateDirectory: string): Promise<{ close(): Promise<void> }> {
  throw new RailheadError('UNSUPPORTED', `the node agent in ${stateDirectory} is not built yet`);
}
