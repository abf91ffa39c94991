import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newPassword, passwordLength } from '#central/bmcPasswords/generate.ts';
import { isSameBmc } from '#contract/bmcBinding.ts';

test('a password has of every kind, nothing that looks alike, no two equal characters in a row, and - inside only', () => {
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 64 }), (length) => {
      const password = newPassword(length);
      expect(password).toHaveLength(length);
      expect(password).toMatch(/^[A-HJ-NP-Za-km-np-z2-9][A-HJ-NP-Za-km-np-z2-9-]+[A-HJ-NP-Za-km-np-z2-9]$/);
      for (const kind of [/[A-Z]/, /[a-z]/, /[2-9]/]) expect(password).toMatch(kind);
      expect(password.split('-')).toHaveLength(2);
      expect(password).not.toMatch(/(.)\1/);
    }),
  );
  expect(new Set(Array.from({ length: 100 }, () => newPassword(16))).size).toBe(100);
});

test.each([
  [{}, 16],
  [{ minLength: 8, maxLength: 20 }, 16],
  [{ minLength: 20 }, 20],
  [{ maxLength: 12 }, 12],
  [{ minLength: 30, maxLength: 20 }, 16],
])('with bounds %j it has %i characters', (bounds, length) => {
  expect(passwordLength(bounds)).toBe(length);
});

test.each([{ maxLength: 7 }, { minLength: 65, maxLength: 100 }])('none fits %j', (bounds) => {
  expect(() => passwordLength(bounds)).toThrow(
    expect.objectContaining({ code: 'UNSUPPORTED', details: expect.objectContaining(bounds) }),
  );
});

test.each([
  ['https://a', 'https://A:443/', true],
  ['https://a', 'https://a:8443', false],
  ['https://a', 'ipmi://a', true],
  ['https://a', 'ipmi://b:623', false],
])('%s and %s are one BMC: %s', (one, other, isOne) => {
  const bmc = (address: string) => ({
    driver: address.startsWith('ipmi') ? ('ipmi' as const) : ('redfish' as const),
    address,
  });
  expect(isSameBmc(bmc(one), bmc(other))).toBe(isOne);
  expect(isSameBmc({ driver: 'manual' }, { driver: 'manual' })).toBe(false);
});
