import { RailheadError } from '#contract/errors.ts';
import type { Pins } from '#contract/join.ts';
import type { Identity } from './identity.ts';

export interface JoinOptions extends Pins {
  /** Base URL of the centre. */
  server: string;
  tokenFile: string;
  nodeId: string;
  stateDirectory: string;
}

/** Joins the centre once and keeps the identity that it gave. */
export async function join(options: JoinOptions): Promise<Identity> {
  throw new RailheadError('UNSUPPORTED', `joining ${options.server} is not built yet`);
}
