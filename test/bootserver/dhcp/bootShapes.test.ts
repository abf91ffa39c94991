import { describe, expect, test } from 'vitest';
import { type BootContext, type BootFields, bootFields } from '#bootserver/dhcp/bootFields.ts';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import type { ReplyRole } from '#bootserver/dhcp/replyShape.ts';
import type { BootQuirk } from '#contract/bootQuirks.ts';
import { clients, discover, hardware, type RawOptions } from './samples.ts';

const network = {
  address: '10.77.0.1',
  httpUrl: 'http://10.77.0.1:8080',
  machineUrl: 'https://10.77.0.1:8443',
};

function fields(
  client: keyof typeof clients | RawOptions,
  more: Partial<BootContext> & { mac?: string } = {},
): BootFields {
  const { mac, ...context } = more;
  const raw: RawOptions = typeof client === 'string' ? clients[client as keyof typeof clients] : client;
  const packet = discover({}, raw, mac === undefined ? {} : { chaddr: hardware(mac) });
  const standard = { network, role: 'full' as ReplyRole, quirks: new Set<BootQuirk>(), loaderGiven: false };
  return bootFields(clientFacts(packet), { ...standard, ...context });
}

/** How a reply is said, in one line: 60, 43 in hex, file, 67. */
function shape({ file, server, options }: BootFields) {
  return {
    server,
    60: options.vendorClass,
    43: options.vendorSpecific?.toString('hex'),
    66: options.serverName,
    file,
    67: options.bootFile,
  };
}

const quirk = (...names: BootQuirk[]) => ({ quirks: new Set(names) });
const proxy = { role: 'proxy' } as const;
const script = 'http://10.77.0.1:8080/boot.ipxe';
const said = (file: string, more: object = {}) => ({
  server: '10.77.0.1',
  60: undefined,
  43: undefined,
  66: undefined,
  file,
  67: file,
  ...more,
});

describe('beside another server', () => {
  test('case 7: a BIOS ROM is named its class and told to load the file at once', () => {
    expect(shape(fields('bios', proxy))).toEqual(said('undionly.kpxe', { 60: 'PXEClient', 43: '060108ff' }));
  });

  test('case 1: UEFI firmware gets its class and no option 43, so that it asks port 4011', () => {
    expect(shape(fields('uefi64', proxy))).toEqual(said('snponly.efi', { 60: 'PXEClient' }));
    expect(shape(fields('arm64', proxy))).toEqual(said('ipxe-arm64.efi', { 60: 'PXEClient' }));
  });

  test('case 1: the other form for UEFI is a switch', () => {
    const switched = fields('uefi64', { ...proxy, ...quirk('discovery-control') });
    expect(shape(switched)).toEqual(said('snponly.efi', { 60: 'PXEClient', 43: '060108ff' }));
  });

  test('case 15: HTTP firmware gets a URL and its own class', () => {
    const url = 'http://10.77.0.1:8080/ipxe/ipxe-amd64.efi';
    expect(shape(fields('http64', proxy))).toEqual(said(url, { 60: 'HTTPClient' }));
  });

  test('case 9: iPXE gets a server and a file at once', () => {
    expect(shape(fields('ipxeFull', proxy))).toEqual(said(script, { 60: 'PXEClient' }));
    expect(shape(fields('ipxeOurs', proxy))).toEqual(said(script, { 60: 'PXEClient' }));
  });

  test('iPXE that is to load ours gets the whole URL, since old ones take the server from the other offer', () => {
    const url = 'tftp://10.77.0.1/undionly.kpxe';
    expect(shape(fields('ipxeBare', proxy))).toEqual(said(url, { 60: 'PXEClient' }));
  });

  test('clients that do not boot from the network are told nothing', () => {
    expect(fields('os', proxy)).toEqual({ options: {} });
  });
});

describe('with the address', () => {
  test.each(['bios', 'uefi64', 'arm64', 'ipxeFull', 'ipxeBare'] as const)(
    'case 2: %s is not sent to port 4011 by option 60',
    (client) => {
      expect(shape(fields(client))).toMatchObject({ 60: undefined, 43: undefined });
    },
  );

  test('case 2: a firmware that wants option 60 gets it with 43.6 = 8', () => {
    const wanting = fields('uefi64', quirk('option-60'));
    expect(shape(wanting)).toEqual(said('snponly.efi', { 60: 'PXEClient', 43: '060108ff' }));
  });

  test('case 4: a firmware that ignores the file beside option 60 gets none', () => {
    const without = fields({ ...clients.arm64 }, quirk('no-option-60', 'option-60'));
    expect(shape(without)).toMatchObject({ 60: undefined, file: 'ipxe-arm64.efi' });
    expect(shape(fields('arm64', { ...proxy, ...quirk('no-option-60') }))[60]).toBeUndefined();
  });
});

describe('quirks', () => {
  test('no quirk changes an HTTP offer’s class, without which it is none', () => {
    for (const name of ['option-60', 'no-option-60', 'discovery-control'] as const)
      expect(fields('http64', quirk(name))).toEqual(fields('http64'));
  });

  test('no-option-43 takes the Raspberry Pi’s menu and the boot item too', () => {
    const bootItem = Buffer.from('80000000', 'hex');
    const without = { ...proxy, ...quirk('no-option-43', 'discovery-control'), bootItem };
    expect(shape(fields('bios', without))[43]).toBeUndefined();
  });

  test('option-66 is the address as text; nul-terminated ends 66 and 67, not the header', () => {
    expect(shape(fields('bios', quirk('option-66', 'nul-terminated')))).toEqual(
      said('undionly.kpxe', { 66: '10.77.0.1\0', 67: 'undionly.kpxe\0' }),
    );
  });

  test('no-option-67 leaves the header alone', () => {
    expect(shape(fields('bios', quirk('no-option-67')))).toEqual(said('undionly.kpxe', { 67: undefined }));
  });

  test('case 8: the boot item is repeated, unless the ROM dislikes that', () => {
    const bootItem = Buffer.from('80000000', 'hex');
    expect(shape(fields('bios', { ...proxy, bootItem }))[43]).toBe('060108470480000000ff');
    expect(shape(fields('bios', { ...proxy, bootItem, ...quirk('no-boot-item') }))[43]).toBe('060108ff');
  });

  test('chain-ipxe gives ours to any iPXE once, no-chain-ipxe to none', () => {
    expect(fields('ipxeFull', quirk('chain-ipxe')).file).toBe('snponly.efi');
    expect(fields('ipxeFull', { ...quirk('chain-ipxe'), loaderGiven: true }).file).toBe(script);
    expect(fields('ipxeOurs', quirk('chain-ipxe')).file).toBe(script);
    expect(fields('ipxeBare', quirk('no-chain-ipxe')).file).toBe(script);
  });
});

describe('case 21: iPXE', () => {
  test.each([
    ['without HTTP', '150101180101', 'snponly.efi'],
    ['with HTTP alone', '130101', 'snponly.efi'],
    ['with HTTP and EFI', '130101240101', script],
    ['with HTTP and bzImage', '130101180101', script],
    ['with HTTP that is off', '130100240101', 'snponly.efi'],
  ])('%s', (_, features, file) => {
    expect(fields({ 60: clients.ipxeFull[60], 93: '0007', 175: features }).file).toBe(file);
  });

  test('without a known architecture gets the script: there is nothing to chain', () => {
    expect(fields({ 60: '505845436c69656e74', 77: '69505845' }).file).toBe(script);
  });
});

describe('case 14: what each architecture loads', () => {
  test.each([
    [0, 'undionly.kpxe'],
    [6, undefined],
    [7, 'snponly.efi'],
    [9, 'snponly.efi'],
    [10, undefined],
    [11, 'ipxe-arm64.efi'],
    [15, undefined],
    [16, 'http://10.77.0.1:8080/ipxe/ipxe-amd64.efi'],
    [18, undefined],
    [19, 'http://10.77.0.1:8080/ipxe/ipxe-arm64.efi'],
    [20, undefined],
    [22, 'ipxe-arm64.efi'],
    [24, 'http://10.77.0.1:8080/ipxe/ipxe-arm64.efi'],
    [255, undefined],
  ])('%i: %s', (number, file) => {
    const hex = number.toString(16).padStart(4, '0');
    const vendorClass = Buffer.from(`PXEClient:Arch:${String(number).padStart(5, '0')}`).toString('hex');
    expect(fields({ 60: vendorClass, 93: hex }).file).toBe(file);
  });
});

describe('case 22: option 93', () => {
  const vendorClass = Buffer.from('PXEClient:Arch:00011:UNDI:003000').toString('hex');

  test.each([
    ['a list: the first known one', { 60: vendorClass, 93: '00ff000b0007' }, 'ipxe-arm64.efi'],
    ['half a number: that of option 60', { 60: vendorClass, 93: '0b' }, 'ipxe-arm64.efi'],
    ['missing: that of option 60', { 60: vendorClass }, 'ipxe-arm64.efi'],
    ['unknown: no file, never that of a BIOS', { 60: vendorClass, 93: '00ff' }, undefined],
    ['missing, and none in option 60', { 60: '505845436c69656e74' }, undefined],
  ])('%s', (_, raw, file) => {
    expect(fields(raw).file).toBe(file);
  });
});

describe('case 17: a Raspberry Pi', () => {
  const mac = 'dc:a6:32:01:02:03';

  test.each([
    ['by its prefix', { ...clients.bios }, mac],
    ['by its identifier', { ...clients.bios, 97: `0052506934${'1131c003a6320102'}${'12345678'}` }, undefined],
    ['without a class in its REQUEST', { 93: '0000' }, mac],
    ['that says architecture 41', { 60: clients.bios[60], 93: '0029' }, undefined],
  ])('%s, gets no x86 file', (_, raw, address) => {
    const pi = fields(raw, address === undefined ? {} : { mac: address });
    expect(pi.file).toBeUndefined();
    expect(pi.options.serverName).toBe('10.77.0.1');
  });

  test('that runs UEFI firmware is UEFI firmware', () => {
    expect(fields('arm64', { mac }).file).toBe('ipxe-arm64.efi');
  });

  test('whose OS asks is told nothing', () => {
    expect(fields('os', { mac })).toEqual({ options: {} });
  });

  test.each(['full', 'proxy'] as const)(
    'case 18: its menu is the one that the ROM looks for (%s)',
    (role) => {
      const pi = shape(fields('bios', { mac, role }));
      expect(pi[43]).toContain('0914000011526173706265727279205069' + '20426f6f74');
      expect(pi[43]).toContain('0a0400505845');
      expect(pi).toMatchObject({ server: '10.77.0.1', 60: 'PXEClient', 66: '10.77.0.1' });
    },
  );
});

test('case 23: U-Boot finds server and file in the header', () => {
  const uboot = fields({ 60: Buffer.from('PXEClient:Arch:00022:UNDI:003000').toString('hex') }, proxy);
  expect(shape(uboot)).toEqual(said('ipxe-arm64.efi', { 60: 'PXEClient' }));
});

test('case 23: a name that does not fit the header is in option 67 alone', () => {
  const long = { ...network, httpUrl: `http://10.77.0.1:8080/${'x'.repeat(120)}` };
  const { file, options } = fields('ipxeFull', { network: long, ...quirk('no-option-67') });
  expect(file).toBeUndefined();
  expect(options.bootFile).toBe(`${long.httpUrl}/boot.ipxe`);
});

test('a machine in a loop gets no loader; iPXE on it still gets the script', () => {
  expect(fields('uefi64', { isLooping: true })).toEqual({ options: {} });
  expect(fields('http64', { isLooping: true })).toEqual({ options: {} });
  expect(fields('ipxeFull', { isLooping: true }).file).toBe(script);
  expect(fields('ipxeBare', { isLooping: true }).file).toBe(script);
});
