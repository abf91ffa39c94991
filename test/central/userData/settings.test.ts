import { expect, test } from 'vitest';
import { checkUserData, type UserDataSettings } from '#central/userData/settings.ts';
import { samplePins, sampleVariables } from './samples.ts';

const { controlPlaneUrl, bcdUrl, bcdSha256 } = sampleVariables;
const settings = { controlPlaneUrl, bcdUrl, bcdSha256, pins: samplePins, tokenTtlSeconds: 600 };

function refusedAt(path: string, given: object): void {
  expect(() => checkUserData({ ...settings, ...given } as UserDataSettings)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', details: expect.objectContaining({ path }) }),
  );
}

test('good user data settings pass, with pins and without', () => {
  expect(checkUserData(settings)).toEqual(settings);
  const { pins, ...unpinned } = settings;
  expect(checkUserData(unpinned)).toEqual(unpinned);
  expect(checkUserData({ templates: { mine: 'x', made: () => 'y' } })).toBeDefined();
});

test.each([
  'https://cp.example.com/a b',
  "https://cp.example.com/'",
  'https://cp.example.com/"',
  'https://cp.example.com/$HOME',
  'https://cp.example.com/%n',
  'https://cp.example.com/a;b',
  'https://cp.example.com/a&b',
  'https://cp.example.com/`id`',
  'https://cp.example.com/a,b',
  'https://cp.example.com/[x]',
  'https://cp.example.com/a\\b',
  'https://cp.example.com\n',
  'ftp://cp.example.com',
  'cp.example.com',
  'https://',
])('controlPlaneUrl is a plain argument: %j is refused', (url) => {
  refusedAt('userData.controlPlaneUrl', { controlPlaneUrl: url });
});

test.each([
  'https://images.example.com/bcd?a=1&b=%20',
  'https://images.example.com/bcd?sig=$x;y(z)*~!#frag',
  'http://10.0.0.1:8080/bcd/abc',
])("bcdUrl is single-quoted for sh -c: a presigned URL's signs are fine in %s", (url) => {
  expect(checkUserData({ bcdUrl: url })).toEqual({ bcdUrl: url });
});

test.each([
  "https://images.example.com/b'cd",
  'https://images.example.com/b"cd',
  'https://images.example.com/b\\cd',
  'https://images.example.com/b cd',
  'https://images.example.com/b\tcd',
  'https://images.example.com/b\u0000cd',
  'file:///bcd',
  'https://images.example.com/{{name}}',
])('bcdUrl may not hold quotes, backslashes or whitespace: %j is refused', (url) => {
  refusedAt('userData.bcdUrl', { bcdUrl: url });
});

test.each(['C'.repeat(64), 'c'.repeat(63), 'c'.repeat(65), `${'c'.repeat(63)}g`, ''])(
  'bcdSha256 is 64 lower-case hex digits: %j is refused',
  (digest) => {
    refusedAt('userData.bcdSha256', { bcdSha256: digest });
  },
);

test.each([
  'sha256/short=',
  `sha1/${'A'.repeat(43)}=`,
  `sha256/${'A'.repeat(43)}`,
  `sha256/${'-'.repeat(43)}=`,
])('a pin is sha256/ and the base64 SPKI digest: %j is refused', (pin) => {
  refusedAt('userData.pins.joinSigningPin', { pins: { ...samplePins, joinSigningPin: pin } });
});

test.each(['servingCaPin', 'joinSigningPin', 'joinEncryptionPin'] as const)(
  'a set of pins without %s is refused',
  (name) => {
    const { [name]: _, ...partial } = samplePins;
    refusedAt(`userData.pins.${name}`, { pins: partial });
  },
);

test.each([0, -1, 1.5, '600', 1e9])('tokenTtlSeconds is a positive whole number: %j is refused', (ttl) => {
  refusedAt('userData.tokenTtlSeconds', { tokenTtlSeconds: ttl });
});

test('an unknown setting and a template that is none are refused', () => {
  refusedAt('userData.bcdURL', { bcdURL: bcdUrl });
  refusedAt('userData.templates.mine', { templates: { mine: 7 } });
});
