import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSignature } from '#cache/verify.ts';
import { type CacheImage, imageSigningInput } from '#contract/images.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const signerKey = publicKey.export({ type: 'spki', format: 'pem' }) as string;

const bare: CacheImage = {
  ref: 'ramdisk@1',
  kind: 'ramdisk',
  digest: 'ab'.repeat(32),
  format: 'raw',
  compression: 'none',
  sources: [],
};
const signature = sign(null, imageSigningInput({ ...bare, sha256: bare.digest }), privateKey).toString(
  'base64',
);
const signed: CacheImage = { ...bare, signature, signerKey };

const refusedFor = (reason: string) =>
  expect.objectContaining({ code: 'INVALID_STATE', details: expect.objectContaining({ reason }) });

test('a ramdisk whose signature holds is accepted', () => {
  expect(() => checkSignature(signed)).not.toThrow();
});

test('an unsigned ramdisk is refused, an unsigned OS image is not', () => {
  expect(() => checkSignature(bare)).toThrow(refusedFor('unsigned'));
  expect(() => checkSignature({ ...bare, kind: 'os' })).not.toThrow();
});

test.each([
  ['ref', { ref: 'ramdisk@2' }],
  ['digest', { digest: 'cd'.repeat(32) }],
  ['kind', { kind: 'os' as const }],
  ['compression', { compression: 'zstd' as const }],
  ['signature', { signature: 'AAAA' }],
])('a signed image with another %s is refused', (_field, change) => {
  expect(() => checkSignature({ ...signed, ...change })).toThrow(refusedFor('signature'));
});

test('a signature without the key to check it is refused', () => {
  const { signerKey: _, ...keyless } = signed;
  expect(() => checkSignature(keyless)).toThrow(refusedFor('signature'));
});
