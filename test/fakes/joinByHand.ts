import type { KeyObject } from 'node:crypto';
import { type Identity, writeIdentity } from '#agent/join/identity.ts';
import { certificateRequest, forgetPendingKeys, pendingKeys } from '#agent/join/ownKeys.ts';
import { type Authority, issueFor, requestedKey } from '#central/join/authority.ts';
import { publicJwk } from '#central/join/keys.ts';

/** What a site knows of the centre that it has joined. */
export interface JoinedCentre {
  authority: Authority;
  signing: KeyObject;
  url: string;
}

/** An identity as `bcd join` leaves it, without the talk. */
export async function joinByHand(
  stateDirectory: string,
  siteId: string,
  { authority, signing, url }: JoinedCentre,
): Promise<void> {
  const keys = await pendingKeys(stateDirectory);
  const request = await certificateRequest(keys.privateKey, siteId);
  const key = await requestedKey(request);
  if (key === undefined) throw new Error('the request is not usable');
  const issued = await issueFor(authority, key, {
    uri: `urn:railhead:site:${siteId}`,
    validMs: 3_600_000,
  });
  const identity: Identity = {
    role: 'site',
    nodeId: siteId,
    server: url,
    ...keys,
    certificate: `${issued.certificate}\n${authority.certificate}`,
    ca: authority.certificate,
    signingKeys: [publicJwk(signing)],
    trustNumber: 1,
    counter: 0,
    expiresAt: issued.expiresAt.toISOString(),
  };
  await writeIdentity(stateDirectory, identity);
  await forgetPendingKeys(stateDirectory);
}
