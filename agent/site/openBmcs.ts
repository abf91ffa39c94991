import type { Log } from '#base/log.ts';
import type { Closable, Keep } from '#base/shutdown.ts';
import type { KeptIdentity } from '../join/keptIdentity.ts';
import { watchBmcs } from './bmcEvents/bmcWatch.ts';
import type { SiteConfig } from './config.ts';
import { type Consoles, createConsoles } from './console/consoles.ts';
import { consoleOpener } from './console/open.ts';
import { type Recorder, startRecorder } from './console/recorder.ts';
import type { SeenMachines } from './discovery/seenMachines.ts';
import type { BoundNode } from './drivers/boundNode.ts';
import { createRequests, type Requests } from './drivers/requests.ts';
import { siteDrivers } from './drivers/siteDrivers.ts';
import type { HealthWatch } from './health/watch.ts';
import { type Bmcs, createBmcs } from './operations/bmcs.ts';
import { bmcCredentials } from './secrets/bmcCredentials.ts';
import { secretPlaces } from './secrets/open.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { SiteState } from './store/state.ts';

export interface SiteBmcsParts {
  state: SiteState;
  seen: SeenMachines;
  secrets: Secrets;
  kept: KeptIdentity;
  /** Called when there is an event for the centre. */
  onEvent(): void;
  log: Log;
}

/** All that a site does with the BMCs of its machines, and with machines that an operator's hands stand in for one. */
export interface SiteBmcs {
  bmcs: Bmcs;
  /** What operators are asked to do. */
  requests: Requests;
  watch: Closable & Pick<HealthWatch, 'lastOf'>;
  consoles: Consoles;
  recorder: Recorder;
}

/**
 * Opens the drivers of the machines, listens to their BMCs, and goes on with the consoles that are recorded.
 * @throws RailheadError INVALID_CONFIG when the place where BMCs are to post cannot be had
 */
export async function openBmcs(
  config: SiteConfig,
  environment: NodeJS.ProcessEnv,
  { state, seen, secrets, kept, onEvent, log }: SiteBmcsParts,
  keep: Keep,
): Promise<SiteBmcs> {
  const places = secretPlaces(config, environment);
  const credentialsOf = (node: BoundNode) => bmcCredentials(node, secrets, places);
  const requests = createRequests(state.events, onEvent);
  const open = siteDrivers(config, { state, seen, requests, credentialsOf, log });
  const bmcs = keep(createBmcs({ open, log }));
  const watch = keep(await watchBmcs({ config, state, bmcs, kept, onEvent, log }));
  const { ipmitool } = config.bmc;
  const { sshKeys, cipherSuites: ciphers } = state;
  const openConsole = consoleOpener({ bmcs, sshKeys, ciphers, ipmitool, credentialsOf, log });
  const consoles = keep(createConsoles(openConsole, log));
  const recorder = keep(startRecorder({ state, consoles, onEvent, log }));
  return { bmcs, requests, watch, consoles, recorder };
}
