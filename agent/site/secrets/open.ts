import type { Log } from '#base/log.ts';
import { openSealer } from '#base/sealing.ts';
import type { Identity } from '../../join/identity.ts';
import type { SiteConfig } from '../config.ts';
import type { CentreClient } from '../link/centreClient.ts';
import type { SiteState } from '../store/state.ts';
import { openAtRestKey } from './atRestKey.ts';
import type { SecretPlaces } from './files.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import { openSecretStore } from './store.ts';

export interface SiteSecretsParts {
  state: SiteState;
  client: Pick<CentreClient, 'secrets'>;
  identity: Identity;
  log: Log;
}

/**
 * The secrets that the centre keeps for this site, as they were left. What a former key encrypted is fetched anew.
 * @throws RailheadError INVALID_CONFIG when the key at rest cannot be used
 */
export async function openSiteSecrets(
  { stateDirectory, secrets: { keyFile } }: SiteConfig,
  { CREDENTIALS_DIRECTORY: credentialsDirectory }: NodeJS.ProcessEnv,
  { state, client, identity, log }: SiteSecretsParts,
): Promise<Secrets> {
  const configured = { ...(credentialsDirectory && { credentialsDirectory }), ...(keyFile && { keyFile }) };
  const { key, besideData } = await openAtRestKey({ stateDirectory, ...configured });
  if (besideData)
    log.info(
      { stateDirectory },
      'the key of secrets at rest is on the same disk: docs/operations.md, Secrets, says how to keep it elsewhere',
    );
  const store = openSecretStore(state.database, openSealer(key));
  const secrets = createSecrets({ store, client, sealingPrivateKey: identity.sealingPrivateKey, log });
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
