import { verifyDocument } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { TrustList } from '#contract/trust.ts';
import { validate } from '#contract/validate.ts';
import type { KeptIdentity } from './keptIdentity.ts';

/**
 * Takes the centre's list of its keys; an older one is left alone.
 * @throws RailheadError FORBIDDEN (`signature`) when none of the JWSs is by a key that is believed already: the agent missed a whole
 *   rotation, and joins again
 */
export async function takeTrust(kept: KeptIdentity, jwsList: readonly string[]): Promise<void> {
  const { number, authorities, signingKeys } = await believed(kept, jwsList);
  const { current } = kept;
  if (number < current.trustNumber || (number === current.trustNumber && current.trust !== undefined)) return;
  await kept.change((identity) => ({
    ...identity,
    ca: authorities.join(''),
    signingKeys,
    trustNumber: number,
    trust: [...jwsList],
  }));
}

async function believed(kept: KeptIdentity, jwsList: readonly string[]): Promise<TrustList> {
  let failure: unknown;
  for (const jws of jwsList)
    try {
      return validate(TrustList, await verifyDocument('railhead-trust', jws, kept.signingKeys()));
    } catch (error) {
      failure = error;
    }
  const message =
    "the centre's new keys are not vouched for by one that is known here: join again with a new token";
  throw new RailheadError('FORBIDDEN', message, { reason: 'signature' }, failure);
}
