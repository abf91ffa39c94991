import { createPublicKey } from 'node:crypto';
import { protocolVersion } from '#contract/agentWire.ts';
import { type Pins, spkiPin, type WellKnown } from '#contract/join.ts';
import { type CentralKeys, publicJwk } from './keys.ts';

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
  };
}

/** What a ramdisk image carries at `/etc/railhead/trust.json`. Nothing in it is secret. */
export interface RamdiskTrust {
  ca: string;
  signingKey: WellKnown['joinSigningKey'];
  centralUrl?: string;
}

export function ramdiskTrust(keys: CentralKeys, centralUrl?: string): RamdiskTrust {
  const trust = { ca: keys.authority.certificate, signingKey: publicJwk(keys.signing) };
  return centralUrl === undefined ? trust : { ...trust, centralUrl };
}
