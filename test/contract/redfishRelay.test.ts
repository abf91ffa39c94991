import fc from 'fast-check';
import { expect, test } from 'vitest';
import { whyNotRelayed } from '#contract/redfishRelay.ts';

const root = '/redfish/v1';

test.each([
  ['GET', '/'],
  ['GET', '/Systems/1/LogServices/Log1/Entries?$top=20'],
  ['GET', '/AccountServices'],
  ['GET', '/Systems?$select=Id,Name&$skip=2'],
  ['GET', '/Systems/System.Embedded.1/'],
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
  // A URL parser drops control characters at the end and tabs anywhere.
  ['GET', '/AccountService\u0001'],
  ['GET', '/Account\tService'],
  ['GET', '/Systems?$expand=.'],
  ['GET', '/?$expand=*($levels=6)'],
  ['GET', '/Systems?%24expand=*'],
  ['GET', '/Systems?$top=1&$expand=*'],
  ['GET', '/Systems?$top=1?$expand=*'],
  ['GET', '/Systems#/AccountService'],
  // iDRAC's own places.
  ['GET', '/Managers/iDRAC.Embedded.1/Accounts/1'],
  ['GET', '/Sessions/1'],
  ['GET', "/SessionService/Sessions('1')"],
  ['GET', '/Managers/1/RemoteAccountService'],
  ['GET', '/Managers/1/Oem/Supermicro/snmp'],
  ['POST', '/Systems/1/Actions/ComputerSystem.Reset?x=1'],
  ['PATCH', '/Systems/1?x=1'],
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

test('a path that is not below the root is none', () => {
  for (const path of [
    '',
    '/',
    '/redfish/v2/',
    '/redfish/v11',
    'https://other/redfish/v1/',
    '//other/redfish/v1/',
  ])
    expect(whyNotRelayed({ method: 'GET', path })).toContain('plain spelling');
});

test('no spelling of a path reaches the accounts', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[/.%aA2eEfF]{0,8}$/),
      fc.string({ unit: fc.constantFrom(...'/.\t\n\u0001\u0000?#;\\ '), maxLength: 3 }),
      fc.constantFrom('/Accounts', ''),
      (before, after, end) => {
        const path = `${root}/${before}AccountService${after}${end}`;
        const reached = new URL(path, 'https://bmc').pathname.replaceAll(/\/+/g, '/');
        if (/^\/redfish\/v1\/AccountService(\/|$)/i.test(reached.replaceAll('%41', 'A')))
          expect(whyNotRelayed({ method: 'GET', path })).toBeTypeOf('string');
      },
    ),
  );
});
