import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasCode } from '#contract/errors.ts';
import { httpsUrlPattern, isHttpsUrl } from '#contract/httpsUrl.ts';
import { canonicalSource } from '#contract/imageSource.ts';
import { parseOciSource } from '#contract/ociReference.ts';

test.each([
  ['https://images.example.com/os.raw?v=1&x=%20', 'https://images.example.com/os.raw?v=1&x=%20'],
  ['HTTPS://Images.Example.com:443/os.raw#part', 'https://images.example.com/os.raw'],
  ['https://bücher.example/größe', 'https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe'],
  ['https://[2001:DB8::1]:8443/a/../os.raw', 'https://[2001:db8::1]:8443/os.raw'],
  ['oci://Registry.example.com:5000/team/os:1', 'oci://registry.example.com:5000/team/os:1'],
  [
    `OCI://registry.example.com/os@sha256:${'a'.repeat(64)}`,
    `oci://registry.example.com/os@sha256:${'a'.repeat(64)}`,
  ],
])('%s is kept as %s', (written, kept) => {
  expect(canonicalSource(written)).toBe(kept);
});

test.each([
  'https:images.example.com/x',
  'https:/images.example.com/x',
  'https:\\\\images.example.com\\x',
  'https:///images.example.com/x',
  'https://images.example.com\\x',
  ' https://images.example.com/x',
  'https://images.example.com/x\n',
  'ht\ntps://images.example.com/x',
  'https://images.example.com/a b',
  'https://images.example.com/\u0000',
  'https://images.example.com/\ud800',
  'https://',
  'https://?x',
  'https://user@images.example.com/x',
  'https://user:secret@images.example.com/x',
  'http://images.example.com/x',
  'oci:registry.example.com/os:1',
  'oci://registry.example.com/Upper:1',
  'oci://registry.example.com/os:1?x=1',
  'oci://user:secret@registry.example.com/os:1',
  'oci://%zz/os:1',
  `https://images.example.com/${'ö'.repeat(1000)}`,
])('%j is no source', (source) => {
  expect(() => canonicalSource(source)).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', details: expect.objectContaining({ path: 'source' }) }),
  );
});

test('whatever is written, a source is refused or becomes one that its cache can read, and stays as it is', () => {
  const tail = fc.oneof(
    fc.webUrl().map((url) => url.replace(/^https?:\/\//, '')),
    fc.string(),
  );
  const scheme = fc.constantFrom('https://', 'oci://', 'OCI://', 'https:', '');
  fc.assert(
    fc.property(scheme, tail, (start, rest) => {
      let source: string;
      try {
        source = canonicalSource(start + rest);
      } catch (error) {
        return hasCode(error, 'INVALID_INPUT') && error.details.path === 'source';
      }
      expect(canonicalSource(source)).toBe(source);
      expect(source).toMatch(/^[!-~]+$/);
      return source.startsWith('oci://') ? parseOciSource(source) !== undefined : isHttpsUrl(source);
    }),
  );
});

test.each([
  'https://',
  'https:// x',
  'https:///x',
  'https://x/\n',
  'https://:443/',
  'https://x\\y',
  ' https://x',
])('%j is no URL for a medium', (url) => {
  expect(isHttpsUrl(url)).toBe(false);
  expect(new RegExp(httpsUrlPattern, 'u').test(url)).toBe(false);
});

test.each(['https://x', 'https://x/iso?sig=a%2Fb&e=1', 'https://[fe80::1]:8443/a.iso'])(
  '%s is a URL for a medium',
  (url) => expect(isHttpsUrl(url)).toBe(true),
);
