import type { Credentials } from '#contract/secrets.ts';
import type { BoundNode } from '../operations/bmcs.ts';
import { credentialsFrom, readCredentials, type SecretPlaces } from './files.ts';
import type { Secrets } from './secrets.ts';

/**
 * A BMC's user name and password: from the secret that the centre keeps, where the node's record names one, else from a file of the site.
 * @throws RailheadError INVALID_CONFIG, or what fetching fails with; none of them tells the secret
 */
export async function bmcCredentials(
  { bmc: { credentialRef }, bmcSecret }: BoundNode,
  secrets: Pick<Secrets, 'text'>,
  places: SecretPlaces,
): Promise<Credentials> {
  if (bmcSecret === undefined) return readCredentials(credentialRef, places);
  return credentialsFrom(await secrets.text(bmcSecret), credentialRef);
}
