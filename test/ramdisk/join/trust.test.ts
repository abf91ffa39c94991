import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signDocument } from '#base/jws.ts';
import { publicJwk } from '#ramdisk/join/keys.ts';
import { learnKeys } from '#ramdisk/join/trust.ts';

const silent = () => {};
const [old, next, stranger] = [1, 2, 3].map(() => generateKeyPairSync('ed25519')) as [
  KeyPair,
  KeyPair,
  KeyPair,
];
interface KeyPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const imageTrust = () => ({
  ca: 'CA',
  signingKeys: [old.publicKey] as readonly KeyObject[],
  trustNumber: 5,
  centre: {},
});

function list(number: number, keys: readonly KeyPair[], signer: KeyPair): Promise<string> {
  const issuedAt = new Date().toISOString();
  const signingKeys = keys.map(({ publicKey }) => publicJwk(publicKey));
  return signDocument(
    'railhead-trust',
    { number, issuedAt, authorities: ['CA'], signingKeys },
    signer.privateKey,
  );
}

test('a newer list by a key of the image brings the next key', async () => {
  const trust = imageTrust();
  await learnKeys(trust, [await list(6, [next, old], next), await list(6, [next, old], old)], silent);
  expect(trust.signingKeys.map((key) => publicJwk(key).x)).toEqual(
    [next, old].map((pair) => publicJwk(pair.publicKey).x),
  );
  expect(trust.trustNumber).toBe(6);
});

test.each([
  ['by a key that is not known', 6, stranger],
  ['that is no newer', 5, old],
])('a list %s changes nothing', async (_, number, signer) => {
  const trust = imageTrust();
  await learnKeys(trust, [await list(number, [stranger], signer)], silent);
  expect(trust).toEqual(imageTrust());
});

test('what a site makes up instead of a list changes nothing and throws nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.anything(), async (relayed) => {
      const trust = imageTrust();
      await learnKeys(trust, relayed, silent);
      expect(trust.trustNumber).toBe(5);
    }),
  );
});
