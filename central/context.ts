import type { Log } from '#base/log.ts';
import type { Sealer } from '#base/sealing.ts';
import type { ConfigUnit } from '#contract/hostConfig/desired.ts';
import type { ImageSettings } from './images/verifier.ts';
import type { CentralKeys } from './join/keys.ts';
import type { HardwareProfile } from './metal/driverBindings.ts';
import type { ShippedProfiles } from './profiles/shipped.ts';
import type { CentralRates } from './rates.ts';
import type { KeepDays } from './retention/keep.ts';
import type { Signals } from './signals.ts';
import type { Store } from './store/store.ts';
import type { UserDataSettings } from './userData/settings.ts';

/** How long the workflow engine, the reader of inventories and the remover of what is old wait, in milliseconds. */
export interface CentralTimes {
  /** Before the first retry of a step, or of what the database refused; it doubles with each further one. */
  retryDelayMs: number;
  /** For a centre on the same database that fell silent, before its workflows are taken over. */
  claimMs: number;
  /** For a cancelled operation to end by itself. */
  cancelGraceMs: number;
  /** After a restart, for a step whose deadline passed meanwhile: its result may be waiting at the site. */
  resumeGraceMs: number;
  /** Between two looks at the inventories of sites that have a URL for that. */
  inventoryEveryMs: number;
  /** Between two rounds that remove what was kept long enough. */
  removeEveryMs: number;
}

/** What the parts of one running centre share. */
export interface CentralContext {
  store: Store;
  /** Which of the centres on this database it is. */
  instance: string;
  keys: CentralKeys;
  sealer: Sealer;
  signals: Signals;
  log: Log;
  /** The base URL that agents reach the centre by. */
  advertise: string;
  userData: UserDataSettings;
  images: ImageSettings;
  /** Units of host configuration beside the built-in ones, in the order of their application. */
  configUnits: readonly ConfigUnit[];
  shippedProfiles: ShippedProfiles;
  /** What machines of one kind are driven by, by the name that nodes and pools use. */
  hardwareProfiles: Readonly<Record<string, HardwareProfile>>;
  times: CentralTimes;
  keep: KeepDays;
  rates: CentralRates;
}
