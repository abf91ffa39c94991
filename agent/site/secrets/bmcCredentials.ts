import type { NextLogin } from '#base/logins.ts';
import { RailheadError } from '#contract/errors.ts';
import { type Credentials, parseCredentials, type SecretVersion } from '#contract/secrets.ts';
import type { BoundNode } from '../drivers/boundNode.ts';
import { credentialsFrom, readCredentials, type SecretPlaces } from './files.ts';
import type { Secrets } from './secrets.ts';

/** A BMC's user name and password, and those that it is being given in their place, or has in spite of them. */
export interface BmcCredentials extends Credentials {
  next?: NextLogin;
}

/**
 * As whom to log in at a BMC: by the secret that the centre keeps, where the node's record names one, else by a file of the site.
 * @throws RailheadError INVALID_CONFIG, or what fetching fails with; none of them tells the secret
 */
export async function bmcCredentials(
  node: Pick<BoundNode, 'nodeId' | 'bmc' | 'bmcSecret' | 'bmcNextSecret'>,
  secrets: Pick<Secrets, 'text' | 'former'>,
  places: SecretPlaces,
): Promise<BmcCredentials> {
  const current = await currentCredentials(node, secrets, places);
  const next = node.bmcNextSecret && (await nextLogin(node.bmcNextSecret, secrets));
  const former = formerLogin(node.nodeId, secrets);
  // A password is changed only once the BMC was asked which one it takes: with a next one, the former is known to be right.
  if (former !== undefined) return next === undefined ? { ...current, next: former } : { ...former, next };
  return next === undefined ? current : { ...current, next };
}

function formerLogin(nodeId: string, secrets: Pick<Secrets, 'former'>): NextLogin | undefined {
  const former = secrets.former(nodeId);
  const credentials = former && parseCredentials(former.text);
  return credentials && { ...credentials, id: former.secretId };
}

async function currentCredentials(
  { bmc: { credentialRef }, bmcSecret }: Pick<BoundNode, 'bmc' | 'bmcSecret'>,
  secrets: Pick<Secrets, 'text'>,
  places: SecretPlaces,
): Promise<Credentials> {
  if (credentialRef === undefined) throw noReference();
  if (bmcSecret === undefined) return readCredentials(credentialRef, places);
  return credentialsFrom(await secrets.text(bmcSecret), credentialRef);
}

/** What is not here yet, no BMC was given. */
async function nextLogin(
  secret: SecretVersion,
  secrets: Pick<Secrets, 'text'>,
): Promise<NextLogin | undefined> {
  const text = await secrets.text(secret).catch(() => undefined);
  const credentials = text === undefined ? undefined : parseCredentials(text);
  return credentials && { ...credentials, id: secret.secretId };
}

function noReference(): RailheadError {
  const message = 'the BMC was enrolled without credentials: enroll it with a credentialRef';
  return new RailheadError('INVALID_CONFIG', message, { path: 'bmc.credentialRef', reason: 'missing' });
}
