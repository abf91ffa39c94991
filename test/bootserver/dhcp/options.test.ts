import { assert, property, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import {
  dhcpOptions,
  type OptionName,
  type OptionValues,
  readOption,
  writeOptions,
} from '#bootserver/dhcp/options.ts';

const samples: [OptionValues, string][] = [
  [{ subnetMask: '255.255.255.0' }, 'ffffff00'],
  [{ routers: ['10.77.0.1'] }, '0a4d0001'],
  [{ dnsServers: ['10.77.0.1', '9.9.9.9'] }, '0a4d000109090909'],
  [{ hostname: 'node-1' }, '6e6f64652d31'],
  [{ domainName: 'a.bc' }, '612e6263'],
  [{ ntpServers: ['10.77.0.1'] }, '0a4d0001'],
  [{ vendorSpecific: Buffer.from([6, 1, 8, 255]) }, '060108ff'],
  [{ requestedAddress: '10.77.0.100' }, '0a4d0064'],
  [{ leaseSeconds: 600 }, '00000258'],
  [{ messageType: 5 }, '05'],
  [{ serverId: '10.77.0.1' }, '0a4d0001'],
  [{ parameterList: Buffer.from([1, 3, 67]) }, '010343'],
  [{ message: 'no' }, '6e6f'],
  [{ maximumSize: 1472 }, '05c0'],
  [{ renewalSeconds: 300 }, '0000012c'],
  [{ rebindingSeconds: 525 }, '0000020d'],
  [{ vendorClass: 'HTTPClient' }, '48545450436c69656e74'],
  [{ clientId: Buffer.from([1, 2]) }, '0102'],
  [{ serverName: '10.77.0.1' }, '31302e37372e302e31'],
  [{ bootFile: 'snponly.efi' }, '736e706f6e6c792e656669'],
  [{ userClass: Buffer.from('iPXE') }, '69505845'],
  [{ relayAgent: Buffer.from([1, 1, 7]) }, '010107'],
  [{ architectures: [7, 9] }, '00070009'],
  [{ networkInterface: Buffer.from([1, 3, 16]) }, '010310'],
  [{ machineId: Buffer.alloc(17) }, '00'.repeat(17)],
  [{ subnetSelection: '10.80.0.0' }, '0a500000'],
  [{ domainSearch: ['a.bc', 'd'] }, '016102626300016400'],
  [{ staticRoutes: [{ to: { address: '10.0.0.0', prefixLength: 9 }, via: '10.77.0.2' }] }, '090a000a4d0002'],
  [{ ipxe: Buffer.from([19, 1, 1]) }, '130101'],
  [{ microsoftRoutes: [{ to: { address: '0.0.0.0', prefixLength: 0 }, via: '10.77.0.2' }] }, '000a4d0002'],
  [{ site: 'https://10.77.0.1:8443' }, Buffer.from('https://10.77.0.1:8443').toString('hex')],
];

test.each(samples)('%o is written and read back', (values, hex) => {
  const options = writeOptions(values);
  const [name] = Object.keys(values) as [OptionName];
  expect(options.get(dhcpOptions[name].number)?.toString('hex')).toBe(hex);
  expect(readOption(options, name)).toEqual(values[name]);
});

test('every option of the table has a sample above, and a number of its own', () => {
  expect(samples.map(([values]) => Object.keys(values)[0])).toEqual(Object.keys(dhcpOptions));
  const numbers = Object.values(dhcpOptions).map(({ number }) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test.each(['serverId', 'leaseSeconds', 'maximumSize', 'messageType', 'architectures', 'dnsServers'] as const)(
  '%s of a wrong size is no value',
  (name) => {
    const options = new Map([[dhcpOptions[name].number, Buffer.alloc(7)]]);
    expect(readOption(options, name)).toBeUndefined();
  },
);

test('text ends before a NUL that some clients add', () => {
  expect(readOption(new Map([[60, Buffer.from('PXEClient\0')]]), 'vendorClass')).toBe('PXEClient');
});

test('no bytes make a codec throw', () => {
  const names = Object.keys(dhcpOptions) as OptionName[];
  assert(
    property(uint8Array({ maxLength: 300 }), (bytes) => {
      for (const name of names) readOption(new Map([[dhcpOptions[name].number, Buffer.from(bytes)]]), name);
    }),
  );
});

test('what is undefined is left out', () => {
  expect(writeOptions({ hostname: undefined, messageType: 2 }).size).toBe(1);
});
