import type { Log } from '#base/log.ts';
import { openRingSealer, type Sealer } from '#base/sealing.ts';
import type { Identity } from '../../join/identity.ts';
import type { SiteConfig } from '../config.ts';
import type { CentreClient } from '../link/centreClient.ts';
import type { SiteState } from '../store/state.ts';
import { openAtRestKeys } from './atRestKey.ts';
import type { SecretPlaces } from './files.ts';
import { openHeldSecrets } from './heldSecrets.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import { openSecretStore } from './store.ts';

/** What encrypts at rest on this site's disk. */
export interface AtRest {
  sealer: Sealer;
  /** Whether its key lies on the same disk. */
  besideData: boolean;
}

/** @throws RailheadError INVALID_CONFIG when the key cannot be used */
export async function openAtRest(
  { stateDirectory, secrets: { keyFile } }: SiteConfig,
  { CREDENTIALS_DIRECTORY: credentialsDirectory }: NodeJS.ProcessEnv,
  log: Log,
): Promise<AtRest> {
  const configured = { ...(credentialsDirectory && { credentialsDirectory }), ...(keyFile && { keyFile }) };
  const { keys, besideData } = await openAtRestKeys({ stateDirectory, ...configured });
  if (besideData)
    log.info(
      { stateDirectory },
      'the key of secrets at rest is on the same disk: docs/operations.md, Secrets, says how to keep it elsewhere',
    );
  return { sealer: openRingSealer(() => keys), besideData };
}

export interface SiteSecretsParts {
  state: SiteState;
  client: Pick<CentreClient, 'secrets'>;
  identity: Identity;
  sealer: Sealer;
  log: Log;
}

/** The secrets that the centre keeps for this site, as they were left. What no key opens is fetched anew. */
export function openSiteSecrets({ state, client, identity, sealer, log }: SiteSecretsParts): Secrets {
  const store = openSecretStore(state.database, sealer);
  const { sealingPrivateKey } = identity;
  const held = openHeldSecrets(state.database);
  const secrets = createSecrets({ store, held, client, sealingPrivateKey, log });
  secrets.desire(state.spec.current()?.site?.nodes ?? []);
  return secrets;
}

/** Where the secrets of the site itself are. */
export function secretPlaces(
  { secrets: { directory } }: SiteConfig,
  { CREDENTIALS_DIRECTORY }: NodeJS.ProcessEnv,
): SecretPlaces {
  return CREDENTIALS_DIRECTORY === undefined
    ? { directory }
    : { directory, credentialsDirectory: CREDENTIALS_DIRECTORY };
}
