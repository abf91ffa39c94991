import type { KeyObject } from 'node:crypto';
import type { ImageCache } from '#cache/imageCache.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { ActionOf, OperationInput } from '#contract/operations.ts';
import type { SecretVersion } from '#contract/secrets.ts';
import type { DriveOptions, MachineDriver } from '../drivers/driver.ts';
import type { MediaPlaces } from '../mediaPlaces.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { SiteState } from '../store/state.ts';

/** The actions that a site carries out itself. */
export type SiteActionName = ActionOf<'site'>;

/** What an action may use. */
export interface ActionContext {
  siteId: string;
  nodeId: string;
  /** What the site knows of the node; absent when its spec does not name it. */
  node?: SiteNode;
  /** Milliseconds since the epoch. */
  deadline: number;
  /** Aborted when the centre cancels the operation or the agent stops. */
  signal: AbortSignal;
  /** The centre's keys that sign, newest first. */
  signingKeys: readonly KeyObject[];
  state: Pick<
    SiteState,
    'entries' | 'events' | 'sessions' | 'tokens' | 'mediaUrls' | 'cacheCatalog' | 'atomically'
  >;
  cache: Pick<ImageCache, 'ready'>;
  /** The text of a secret that the centre keeps; it is kept here, encrypted, before this returns. */
  secretText(secret: SecretVersion): Promise<string>;
  /** As whom a BMC takes the site, as the centre is to know it. */
  settleFormer: Secrets['settleFormer'];
  mediaPlaces: MediaPlaces;
  /** Runs `work` with what drives the node, or `as` another driver reaches it, and with the operation's limits; one at a time per BMC. */
  withBmc<Result>(
    work: (
      bmc: MachineDriver,
      limits: Required<Pick<DriveOptions, 'deadline' | 'signal'>>,
    ) => Promise<Result>,
    as?: SiteNode,
  ): Promise<Result>;
}

/** What was found out about an act that a crash interrupted. */
export type Settlement =
  /** It has happened. */
  | { kind: 'done'; result: Record<string, unknown> }
  /** It is harmless to do once more, and the result says that it was. */
  | { kind: 'repeat' }
  /** It may or may not have happened; the workflow decides. */
  | { kind: 'unknown'; found: Record<string, unknown> };

/** One action of a site. */
export interface SiteAction<Name extends SiteActionName> {
  run(input: OperationInput<Name>, context: ActionContext): Promise<Record<string, unknown>>;
  /** Looks, after a restart, at what became of an act begun at `startedAt` (milliseconds). */
  settle(input: OperationInput<Name>, context: ActionContext, startedAt: number): Promise<Settlement>;
}

/** For acts that change nothing outside, or leave the same state when done again. */
export async function repeatable(): Promise<Settlement> {
  return { kind: 'repeat' };
}
