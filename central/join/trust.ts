import { createPublicKey, type KeyObject } from 'node:crypto';
import { signDocument } from '#base/jws.ts';
import { spkiPin } from '#contract/join.ts';
import type { TrustList } from '#contract/trust.ts';
import { type CentralKeys, publicJwk } from './keys.ts';

/** Every CA that is accepted, newest first. */
export function acceptedAuthorities({ authority, older }: CentralKeys): string[] {
  return [authority, ...older.authorities].map(({ certificate }) => certificate);
}

/** The public half of every signing key that is accepted, newest first. */
export function acceptedSigningKeys({ signing, older }: CentralKeys): KeyObject[] {
  return [signing, ...older.signing].map((key) => createPublicKey(key));
}

/** The list of the centre's keys, a JWS by each signing key in it. */
export function signedTrust(keys: CentralKeys): Promise<string[]> {
  const signers = [keys.signing, ...keys.older.signing];
  const list: TrustList = {
    number: keys.number,
    issuedAt: new Date().toISOString(),
    authorities: acceptedAuthorities(keys),
    signingKeys: signers.map(publicJwk),
  };
  return Promise.all(signers.map((key) => signDocument('railhead-trust', list, key)));
}

/** The newest signing key that has one of `pins`; the newest of all when the asker names none that is here. */
export function signerAmong(keys: CentralKeys, pins: readonly string[]): KeyObject {
  const signers = [keys.signing, ...keys.older.signing];
  const known = signers.find((key) => pins.includes(spkiPin(createPublicKey(key))));
  return known ?? keys.signing;
}
