import { expect, test } from 'vitest';
import { heldNow } from '#agent/site/secrets/heldSecrets.ts';

const bmc = { driver: 'redfish', address: 'https://192.0.2.1', credentialRef: 'secret://bmc/own' } as const;
const own = { bmc, bmcSecret: { secretId: 'sec_own', version: 1 } };
const before = { ...bmc, credentialRef: 'secret://bmc/factory' };
const factory = { secretId: 'sec_factory', version: 1 };

test('a centre that names the secret of before of the same BMC leaves the one that it named last', () => {
  const held = heldNow(heldNow(undefined, own), { bmc: before, bmcSecret: factory });
  expect(held).toMatchObject({ secretId: 'sec_factory', formerId: 'sec_own' });
});

test('what was held by a release that did not keep the BMC stays as well', () => {
  const old = { credentialRef: bmc.credentialRef, secretId: 'sec_own' };
  expect(heldNow(old, { bmc: before, bmcSecret: factory })).toMatchObject({ formerId: 'sec_own' });
});

test('nor is it lost when another certificate or driver is named for the same BMC', () => {
  for (const change of [
    { certificateSha256: 'a'.repeat(64) },
    { driver: 'ipmi', address: 'ipmi://192.0.2.1' } as const,
  ])
    expect(
      heldNow(heldNow(undefined, own), { bmc: { ...before, ...change }, bmcSecret: factory }),
    ).toMatchObject({ formerId: 'sec_own' });
});

test.each([
  ['at another address', { address: 'https://192.0.2.2' }],
  ['at another port', { address: 'https://192.0.2.1:8443' }],
  ['of another driver elsewhere', { driver: 'ipmi', address: 'ipmi://192.0.2.2' } as const],
])('a BMC %s is not tried with the secret of the one before', (_, change) => {
  const held = heldNow(heldNow(undefined, own), { bmc: { ...before, ...change }, bmcSecret: factory });
  expect(held.formerId).toBeUndefined();
});

test('nor is one that comes after the node had none', () => {
  const none = heldNow(heldNow(undefined, own), {});
  expect(none.formerId).toBeUndefined();
  expect(heldNow(none, { bmc: before, bmcSecret: factory }).formerId).toBeUndefined();
});
