import type { Log } from '#base/log.ts';
import type { Sealer } from '#base/sealing.ts';
import type { ImageSettings } from './images/verifier.ts';
import type { CentralKeys } from './join/keys.ts';
import type { CentralRates } from './rates.ts';
import type { Signals } from './signals.ts';
import type { Store } from './store/store.ts';

/** What user data is rendered with, besides what belongs to one node. */
export interface UserDataSettings {
  /** Where a deployed OS downloads `bcd` from, and the digest that it must have. */
  bcdUrl?: string;
  bcdSha256?: string;
  /** Folder of custom templates: a profile's `userData.template` names a file in it. */
  templates?: string;
  /** How long a provisioned join token is valid; default two hours. */
  tokenValidMs: number;
}

/** How long the workflow engine waits, in milliseconds. */
export interface EngineTimes {
  /** Before the first retry of a step, or of what the database refused; it doubles with each further one. */
  retryDelayMs: number;
  /** For a cancelled operation to end by itself. */
  cancelGraceMs: number;
  /** After a restart, for a step whose deadline passed meanwhile: its result may be waiting at the site. */
  resumeGraceMs: number;
}

/** What the parts of one running centre share. */
export interface CentralContext {
  store: Store;
  keys: CentralKeys;
  sealer: Sealer;
  signals: Signals;
  log: Log;
  /** The base URL that agents reach the centre by. */
  advertise: string;
  userData: UserDataSettings;
  images: ImageSettings;
  times: EngineTimes;
  rates: CentralRates;
}
