import { expect, test } from 'vitest';
import { chooseSources } from '#base/debian/mirror.ts';

const host = [
  'http://mirror.example/debian-security/ bookworm-security main',
  'https://apt.example/nodejs/ nodistro main',
  'http://mirror.example/debian/ bookworm main',
  'http://mirror.example/debian/ bookworm-updates main',
  'https://download.example/linux/debian/ bookworm stable',
].join('\n');

test('the fixed suite comes from the mirror that holds the host release, security updates from theirs', () => {
  expect(chooseSources(host, 'bookworm', 'trixie')).toEqual([
    { uri: 'http://mirror.example/debian/', suite: 'trixie' },
    { uri: 'http://mirror.example/debian-security/', suite: 'trixie-security' },
  ]);
});

test('a host without a security source is expected to find it beside its mirror', () => {
  expect(chooseSources('http://m/debian/ trixie main', 'trixie', 'trixie')).toEqual([
    { uri: 'http://m/debian/', suite: 'trixie' },
    { uri: 'http://m/debian-security/', suite: 'trixie-security', guessed: true },
  ]);
});

test('nothing is guessed beside a mirror of another layout', () => {
  expect(chooseSources('http://m/remote-trixie/ trixie main', 'trixie', 'trixie')).toEqual([
    { uri: 'http://m/remote-trixie/', suite: 'trixie' },
  ]);
});

test('a host that names its suite by role is understood', () => {
  expect(chooseSources('http://m/debian/ stable main', 'trixie', 'trixie')[0]?.uri).toBe('http://m/debian/');
});

test('without a Debian source, or with a CD alone, Debian’s own mirror is used', () => {
  const fallback = { uri: 'http://deb.debian.org/debian/', suite: 'trixie' };
  expect(chooseSources('', undefined, 'trixie')[0]).toEqual(fallback);
  expect(chooseSources('cdrom:[Debian]/ trixie main', 'trixie', 'trixie')[0]).toEqual(fallback);
});
