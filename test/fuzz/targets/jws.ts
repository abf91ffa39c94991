import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { signDocument, verifyDocument } from '#base/jws.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const ed25519 = generateKeyPairSync('ed25519');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signed = await signDocument('railhead-boot-entry', { a: 1 }, ed25519.privateKey);
const keys = [ed25519.publicKey, p256.publicKey];

/** A compact JWS: refused with an Error, unless it is what we signed. */
export const target: FuzzTarget = {
  seeds: [
    text(signed),
    text(await signDocument('other', { a: 1 }, p256.privateKey)),
    text('eyJhbGciOiJub25lIn0.e30.'),
    text('..'),
  ],
  longest: 65_536,
  async run(input) {
    const document = await verifyDocument('railhead-boot-entry', input.toString('latin1'), keys);
    assert.deepEqual(document, { a: 1 });
  },
  declares: (error) => error instanceof Error && !(error instanceof assert.AssertionError),
};
