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

/**
 * Holds a well-known document against the pins that came by another way. Whoever forged the document could not forge those.
 * @throws RailheadError FORBIDDEN naming the first pin that differs
 */
export function checkPins(document: WellKnown, pins: Pins): void {
  const found: Pins = {
    servingCaPin: pinOf('servingCaPin', () => certificatePin(document.servingCa)),
    joinSigningPin: pinOf('joinSigningPin', () => jwkPin(document.joinSigningKey)),
    joinEncryptionPin: pinOf('joinEncryptionPin', () => jwkPin(document.joinEncryptionKey)),
  };
  for (const name of Object.keys(found) as (keyof Pins)[]) {
    if (found[name] === pins[name]) continue;
    throw new RailheadError(
      'FORBIDDEN',
      `${name} does not match: this is not the centre that the pins belong to; compare with 'railhead central pins'`,
      { path: name, reason: 'pin', expected: pins[name], found: found[name] },
    );
  }
}

function pinOf(name: keyof Pins, compute: () => string): string {
  try {
    return compute();
  } catch (error) {
    throw new RailheadError(
      'FORBIDDEN',
      `the centre's document holds no usable key for ${name}`,
      { path: name, reason: 'pin' },
      error,
    );
  }
}
