import { expect, test } from 'vitest';
import { authorizationFor, isRedirect, nextHop, publicPart } from '#cache/pull/redirects.ts';

const from = new URL('https://registry.example/a/b');

test('a Location is followed whether absolute or relative', () => {
  expect(String(nextHop(from, 'https://store.example/x?sig=1'))).toBe('https://store.example/x?sig=1');
  expect(String(nextHop(from, '../c'))).toBe('https://registry.example/c');
});

test('a redirect from https to http, or to nowhere, is refused with the reason', () => {
  expect(nextHop(from, 'http://store.example/x')).toBe('it leads from https to http');
  expect(nextHop(from, undefined)).toBe('no usable Location');
  expect(nextHop(from, 'https://[')).toBe('no usable Location');
});

test('credentials of a source go to its own origin only', () => {
  const source = new URL('https://user:p%40ss@registry.example/a');
  const basic = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
  expect(authorizationFor(source, new URL('https://registry.example/b'))).toEqual({ authorization: basic });
  expect(authorizationFor(source, new URL('https://registry.example:8443/b'))).toEqual({});
  expect(authorizationFor(source, new URL('https://store.example/b'))).toEqual({});
});

test('what is told of a URL holds no user, password or presigned query', () => {
  expect(publicPart(new URL('https://user:secret@h.example/p?X-Amz-Signature=abc#f'))).toBe(
    'https://h.example/p',
  );
});

test('304 is no redirect', () => {
  expect([301, 302, 303, 307, 308].every(isRedirect)).toBe(true);
  expect(isRedirect(304)).toBe(false);
});
