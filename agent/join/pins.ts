import { X509Certificate } from 'node:crypto';
import { publicKeyFromJwk } from '#base/jws.ts';
import { RailheadError } from '#contract/errors.ts';
import { type OkpJwk, type Pins, spkiPin, type WellKnown } from '#contract/join.ts';

/** A key of the document as it was read, and its pin: what is used further is made from that, not from the text, which may hold more. */
interface Read<Key> {
  key: Key;
  pin: string;
}

function readJwk(jwk: OkpJwk): Read<OkpJwk> {
  const key = publicKeyFromJwk(jwk);
  return { key: key.export({ format: 'jwk' }) as OkpJwk, pin: spkiPin(key) };
}

/** TLS would believe every certificate of a PEM text: it must be one. */
function readCertificate(pem: string): Read<string> {
  if (pem.split('-----BEGIN').length !== 2) throw new Error('not exactly one certificate');
  const certificate = new X509Certificate(pem);
  return { key: certificate.toString(), pin: spkiPin(certificate.publicKey) };
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
 * @throws RailheadError FORBIDDEN (`pin`) naming the first pin that no single key of the document has
 */
export function pinnedKeys(document: WellKnown, pins: Pins): PinnedKeys {
  const { older } = document;
  return {
    servingCa: pinned(
      'servingCaPin',
      [document.servingCa, ...(older?.servingCas ?? [])],
      readCertificate,
      pins,
    ),
    joinSigningKey: pinned(
      'joinSigningPin',
      [document.joinSigningKey, ...(older?.joinSigningKeys ?? [])],
      readJwk,
      pins,
    ),
    joinEncryptionKey: pinned(
      'joinEncryptionPin',
      [document.joinEncryptionKey, ...(older?.joinEncryptionKeys ?? [])],
      readJwk,
      pins,
    ),
  };
}

function pinned<Key>(name: keyof Pins, keys: readonly Key[], read: (key: Key) => Read<Key>, pins: Pins): Key {
  const found = keys.map((key) => readOrNothing(key, read));
  const match = found.find((each) => each?.pin === pins[name]);
  if (match !== undefined) return match.key;
  throw new RailheadError(
    'FORBIDDEN',
    `${name} does not match: this is not the centre that the pins belong to; compare with 'railhead central pins'`,
    { path: name, reason: 'pin', expected: pins[name], found: found[0]?.pin ?? 'no usable key' },
  );
}

function readOrNothing<Key>(key: Key, read: (key: Key) => Read<Key>): Read<Key> | undefined {
  try {
    return read(key);
  } catch {
    return undefined;
  }
}
