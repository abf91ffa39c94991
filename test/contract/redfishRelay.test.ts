import fc from 'fast-check';
import { expect, test } from 'vitest';
import { whyNotRelayed } from '#contract/redfishRelay.ts';

const root = '/redfish/v1';

test.each([
  ['GET', '/'],
  ['GET', '/Systems/1/LogServices/Log1/Entries?$top=20'],
  ['GET', '/AccountServices'],
  ['POST', '/Systems/1/Actions/ComputerSystem.Reset'],
  ['POST', '/Managers/BMC/LogServices/SEL/Actions/LogService.ClearLog'],
] as const)('%s %s is relayed', (method, path) => {
  expect(whyNotRelayed({ method, path: root + path })).toBeUndefined();
});

test.each([
  ['GET', '/AccountService/Accounts/2'],
  ['GET', '/accountservice'],
  ['GET', '/SessionService/Sessions'],
  ['GET', '/Managers/1/NetworkProtocol/SNMP'],
  ['GET', '/Systems/../AccountService/Accounts'],
  ['GET', '/Systems//../AccountService'],
  ['GET', '/%41ccountService/Accounts'],
  ['POST', '/SessionService/Sessions'],
  ['POST', '/UpdateService/Actions/UpdateService.SimpleUpdate'],
  ['POST', '/Systems/1/Actions/ComputerSystem.Reset/x'],
  ['PATCH', '/Managers/1/EthernetInterfaces/1'],
] as const)('%s %s is not', (method, path) => {
  expect(whyNotRelayed({ method, path: root + path })).toBeTypeOf('string');
});

test('of a system only what can be undone is changed', () => {
  const patch = (body: Record<string, unknown>) =>
    whyNotRelayed({ method: 'PATCH', path: `${root}/Systems/1`, body });
  expect(patch({ AssetTag: 'rack 7' })).toBeUndefined();
  expect(patch({ AssetTag: 'rack 7', BiosVersion: '1' })).toContain('BiosVersion');
});

test('no spelling of a path reaches the accounts', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[/.%aA2eEfF]{0,8}$/),
      fc.stringMatching(/^[/.]{0,3}$/),
      (before, after) => {
        const path = `${root}/${before}AccountService${after}/Accounts`;
        const reached = new URL(path, 'https://bmc').pathname.replaceAll(/\/+/g, '/');
        if (/^\/redfish\/v1\/AccountService(\/|$)/i.test(reached.replaceAll('%41', 'A')))
          expect(whyNotRelayed({ method: 'GET', path })).toBeTypeOf('string');
      },
    ),
  );
});
