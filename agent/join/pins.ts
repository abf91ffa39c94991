import { createPublicKey, X509Certificate } from 'node:crypto';
import { publicKeyFromJwk } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { type OkpJwk, type Pins, spkiPin, type WellKnown } from '#contract/join.ts';

export function jwkPin(jwk: OkpJwk): string {
  return spkiPin(publicKeyFromJwk(jwk));
}

export function certificatePin(pem: string): string {
  return spkiPin(createPublicKey(new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'pem' })));
}

/** The centre's keys that the pins stand for. */
export interface PinnedKeys {
  /** PEM. */
  servingCa: string;
  joinSigningKey: OkpJwk;
  joinEncryptionKey: OkpJwk;
}

/**
 * The keys of a well-known document that have these pins, which came by another way: whoever forged the document could not forge those.
 * A pin of a key that was replaced holds as long as the centre still accepts that key.
 * @throws RailheadError FORBIDDEN (`pin`) naming the first pin that no key of the document has
 */
export function pinnedKeys(document: WellKnown, pins: Pins): PinnedKeys {
  const { older } = document;
  return {
    servingCa: pinned(
      'servingCaPin',
      [document.servingCa, ...(older?.servingCas ?? [])],
      certificatePin,
      pins,
    ),
    joinSigningKey: pinned(
      'joinSigningPin',
      [document.joinSigningKey, ...(older?.joinSigningKeys ?? [])],
      jwkPin,
      pins,
    ),
    joinEncryptionKey: pinned(
      'joinEncryptionPin',
      [document.joinEncryptionKey, ...(older?.joinEncryptionKeys ?? [])],
      jwkPin,
      pins,
    ),
  };
}

function pinned<Key>(name: keyof Pins, keys: readonly Key[], pinOf: (key: Key) => string, pins: Pins): Key {
  const found = keys.map((key) => ({ key, pin: pinOrNothing(key, pinOf) }));
  const match = found.find(({ pin }) => pin === pins[name]);
  if (match !== undefined) return match.key;
  throw new RailheadError(
    'FORBIDDEN',
    `${name} does not match: this is not the centre that the pins belong to; compare with 'railhead central pins'`,
    { path: name, reason: 'pin', expected: pins[name], found: found[0]?.pin ?? 'no usable key' },
  );
}

function pinOrNothing<Key>(key: Key, pinOf: (key: Key) => string): string | undefined {
  try {
    return pinOf(key);
  } catch {
    return undefined;
  }
}
