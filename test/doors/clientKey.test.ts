import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientKey } from '#doors/clientKey.ts';

test.each([
  ['10.77.0.5', '10.77.0.5'],
  ['::ffff:10.77.0.5', '10.77.0.5'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  [undefined, 'local'],
  ['', 'local'],
])('%s counts as %s', (address, key) => {
  expect(clientKey(address)).toBe(key);
});

test('every address of one IPv6 network is one client', () => {
  const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
  const half = fc.array(group, { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(half, half, half, (network, one, other) => {
      const key = (host: string[]) => clientKey([...network, ...host].join(':'));
      expect(key(one)).toBe(key(other));
    }),
  );
});
