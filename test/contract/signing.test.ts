import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { imageSigningInput, type SignedImageFacts } from '#contract/images.ts';
import { openSignerKey, verifySignature } from '#contract/signing.ts';

const vectors = JSON.parse(readFileSync('test/fixtures/signing/vectors.json', 'utf8')) as {
  image: SignedImageFacts;
  inputHex: string;
  signatures: { name: string; publicKey: string; signature: string; verifies: boolean }[];
};

test('what is signed is bc-image-v1, kind, ref, format, compression and the lower-case digest, one per line', () => {
  const input = imageSigningInput(vectors.image);
  expect(input.toString('hex')).toBe(vectors.inputHex);
  expect(input.toString('utf8').split('\n')).toEqual([
    'bc-image-v1',
    'os',
    'ubuntu-24.04-server@2026.09',
    'raw',
    'zstd',
    'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
  ]);
});

test.each(vectors.signatures)('the committed signature, $name, verifies: $verifies', (vector) => {
  const input = Buffer.from(vectors.inputHex, 'hex');
  expect(verifySignature(vector.publicKey, input, vector.signature)).toBe(vector.verifies);
});

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
const input = imageSigningInput(vectors.image);
const signature = sign(null, input, privateKey).toString('base64');

test('a signature may be wrapped in lines, and is else base64 and nothing but base64', () => {
  expect(verifySignature(pem, input, `${signature.slice(0, 64)}\n${signature.slice(64)}\n`)).toBe(true);
  for (const bad of ['', '====', `${signature}!`, `.${signature}`, signature.slice(0, -2), `${signature}AA`])
    expect(verifySignature(pem, input, bad)).toBe(false);
});

test('a signature covers every byte: one changed bit anywhere is no match', () => {
  fc.assert(
    fc.property(fc.nat(input.length - 1), fc.nat(7), (at, bit) => {
      const changed = Buffer.from(input);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 << bit), at);
      expect(verifySignature(pem, changed, signature)).toBe(false);
    }),
  );
});

test('no text makes the check throw, neither as key nor as signature', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (key, text) => {
      expect(verifySignature(key, input, text)).toBe(false);
      expect(verifySignature(pem, input, text)).toBe(false);
    }),
  );
});

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
test.each([
  ['an Ed25519 key', pem, true],
  ['a P-256 key', ec.publicKey.export({ type: 'spki', format: 'pem' }), true],
  ['a key with a line feed in front and none behind', `\n${pem.trim()}`, true],
  ['a private key', privateKey.export({ type: 'pkcs8', format: 'pem' }), false],
  [
    'a private key with its public one',
    `${privateKey.export({ type: 'pkcs8', format: 'pem' })}${pem}`,
    false,
  ],
  ['two keys', pem + pem, false],
  ['an RSA key', rsa.publicKey.export({ type: 'spki', format: 'pem' }), false],
  ['an RSA key in PKCS #1', rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }), false],
  ['text', 'ssh-ed25519 AAAA', false],
] as const)('only one SPKI PEM of Ed25519 or P-256 is a key: %s', (_, text, isKey) => {
  expect(openSignerKey(String(text)) !== undefined).toBe(isKey);
});
