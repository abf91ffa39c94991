import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { openSealed, sealText } from '#base/jwe.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const { privateKey, publicKey } = generateKeyPairSync('x25519');

/** A compact JWE: refused with an Error, unless it is what was sealed to us. */
export const target: FuzzTarget = {
  seeds: [
    text(await sealText('railhead-secret', 'secret', publicKey)),
    text(await sealText('railhead-secret', 'secret', publicKey, Buffer.from('party'))),
    text('a.b.c.d.e'),
    text('eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0....'),
  ],
  longest: 65_536,
  async run(input) {
    assert.equal((await openSealed('railhead-secret', input.toString('latin1'), privateKey)).text, 'secret');
  },
  declares: (error) => error instanceof Error && !(error instanceof assert.AssertionError),
};
