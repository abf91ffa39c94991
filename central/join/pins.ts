import { createPublicKey } from 'node:crypto';
import { protocolVersion } from '#contract/agentWire.ts';
import { type Pins, spkiPin, type WellKnown } from '#contract/join.ts';
import { type CentralKeys, publicJwk } from './keys.ts';
import { acceptedAuthorities, acceptedSigningKeys } from './trust.ts';

/** The three trust anchors that an agent is given by hand: `sha256/` and the base64 digest of each SPKI (RFC 7469's form). */
export function centralPins(keys: CentralKeys): Pins {
  return {
    servingCaPin: spkiPin(createPublicKey(keys.authority.certificate)),
    joinSigningPin: spkiPin(createPublicKey(keys.signing)),
    joinEncryptionPin: spkiPin(createPublicKey(keys.joinEncryption)),
  };
}

/** `GET /.well-known/bcd.json`: the keys that the pins are checked against. */
export function wellKnown(keys: CentralKeys): WellKnown {
  return {
    protocol: protocolVersion,
    servingCa: keys.authority.certificate,
    joinSigningKey: publicJwk(keys.signing),
    joinEncryptionKey: publicJwk(keys.joinEncryption),
    older: {
      servingCas: keys.older.authorities.map(({ certificate }) => certificate),
      joinSigningKeys: keys.older.signing.map(publicJwk),
      joinEncryptionKeys: keys.older.joinEncryption.map(publicJwk),
    },
  };
}

/** What a ramdisk image carries at `/etc/railhead/trust.json`. Nothing in it is secret. */
export interface RamdiskTrust {
  /** PEM of every CA that is accepted. */
  ca: string;
  /** Every key that may sign operations. */
  signingKeys: WellKnown['joinSigningKey'][];
  /** The number of this list: the ramdisk takes only newer ones. */
  trustNumber: number;
  joinEncryptionKey: WellKnown['joinEncryptionKey'];
  centralUrl?: string;
}

export function ramdiskTrust(keys: CentralKeys, centralUrl?: string): RamdiskTrust {
  const trust = {
    ca: acceptedAuthorities(keys).join(''),
    signingKeys: acceptedSigningKeys(keys).map(publicJwk),
    trustNumber: keys.number,
    joinEncryptionKey: publicJwk(keys.joinEncryption),
  };
  return centralUrl === undefined ? trust : { ...trust, centralUrl };
}
