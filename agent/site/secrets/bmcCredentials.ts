import { RailheadError } from '#contract/errors.ts';
import type { Credentials } from '#contract/secrets.ts';
import type { BoundNode } from '../drivers/open.ts';
import { credentialsFrom, readCredentials, type SecretPlaces } from './files.ts';
import type { Secrets } from './secrets.ts';

/**
 * A BMC's user name and password: from the secret that the centre keeps, where the node's record names one, else from a file of the site.
 * @throws RailheadError INVALID_CONFIG, or what fetching fails with; none of them tells the secret
 */
export async function bmcCredentials(
  { bmc: { credentialRef }, bmcSecret }: Pick<BoundNode, 'bmc' | 'bmcSecret'>,
  secrets: Pick<Secrets, 'text'>,
  places: SecretPlaces,
): Promise<Credentials> {
  if (credentialRef === undefined) throw noReference();
  if (bmcSecret === undefined) return readCredentials(credentialRef, places);
  return credentialsFrom(await secrets.text(bmcSecret), credentialRef);
}

function noReference(): RailheadError {
  const message = 'the BMC was enrolled without credentials: enroll it with a credentialRef';
  return new RailheadError('INVALID_CONFIG', message, { path: 'bmc.credentialRef', reason: 'missing' });
}
