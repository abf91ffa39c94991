import { expect, test } from 'vitest';
import { encodeItems, encodeVendorClass, userClasses6, vendorClass } from '#bootserver/dhcp6/classes.ts';
import { client6Facts } from '#bootserver/dhcp6/client.ts';
import type { OptionValues } from '#bootserver/dhcp6/options.ts';
import type { LoaderChoice } from '#bootserver/machine.ts';
import { Bench6, client, linkLocal, mac, optionOf, site } from './bench.ts';

function facts(values: OptionValues, from = linkLocal) {
  return client6Facts({ message: client('solicit', values), relays: [] }, from);
}

function bootUrl(values: OptionValues): string | undefined {
  return optionOf(new Bench6().reply(client('solicit', values)), 'bootFileUrl');
}

const pxe = (text: string) => encodeVendorClass({ enterprise: 343, items: [text] });
const ascii = (text: string) => Buffer.from(text, 'latin1');

test('case 50: UEFI firmware for x64 by option 61 is told a TFTP URL with a bracketed address', () => {
  expect(bootUrl({ architectures: [7] })).toBe('tftp://[fd77::1]/snponly.efi');
});

test('case 50: UEFI HTTP boot is told an HTTP URL, and its class comes back', () => {
  const reply = new Bench6().reply(
    client('solicit', { architectures: [16], vendorClass: pxe('HTTPClient:Arch:00016:UNDI:003000') }),
  );
  expect(optionOf(reply, 'bootFileUrl')).toBe('http://[fd77::1]:8080/ipxe/ipxe-amd64.efi');
  expect(vendorClass(optionOf(reply, 'vendorClass'))).toEqual({ enterprise: 343, items: ['HTTPClient'] });
});

test.each<[string, OptionValues, string | undefined]>([
  ['an unknown number', { architectures: [255] }, 'snponly.efi'],
  ['no number at all', { vendorClass: pxe('PXEClient') }, 'snponly.efi'],
  ['an odd number of bytes', { vendorClass: pxe('PXEClient'), architectures: [] }, 'snponly.efi'],
  ['BIOS', { architectures: [0], vendorClass: pxe('PXEClient:Arch:00000:UNDI:002001') }, 'snponly.efi'],
  ['arm64 in the class alone', { vendorClass: pxe('PXEClient:Arch:00011:UNDI:003000') }, 'ipxe-arm64.efi'],
  ['a list with one known', { architectures: [255, 11] }, 'ipxe-arm64.efi'],
])('case 50: firmware that says %s boots an EFI program, never a BIOS one', (_, values, file) => {
  expect(bootUrl(values)).toBe(`tftp://[fd77::1]/${file}`);
});

const digest = 'ab'.repeat(32);
const http = { architectures: [16], vendorClass: pxe('HTTPClient:Arch:00016:UNDI:003000') };

test.each<[string, LoaderChoice, OptionValues, string | undefined]>([
  ['shim by PXE', { kind: 'shim' }, { architectures: [7] }, 'tftp://[fd77::1]/shimx64.efi'],
  ['shim by HTTP', { kind: 'shim' }, http, 'http://[fd77::1]:8080/shim/shimx64.efi'],
  [
    'the whole image by PXE: iPXE',
    { kind: 'uki', digests: {} },
    { architectures: [7] },
    'tftp://[fd77::1]/snponly.efi',
  ],
  [
    'the whole image by HTTP',
    { kind: 'uki', digests: { x86_64: digest } },
    http,
    `http://[fd77::1]:8080/images/sha256/${digest}/ramdisk.efi`,
  ],
  ['the whole image by HTTP, without an entry: nothing', { kind: 'uki', digests: {} }, http, undefined],
])('a machine is handed what was chosen for it, as over IPv4: %s', (_, loader, values, url) => {
  const bench = new Bench6();
  bench.loader = loader;
  expect(optionOf(bench.reply(client('solicit', values)), 'bootFileUrl')).toBe(url);
});

test('firmware of an architecture that we have no iPXE for gets an address and no program of another', () => {
  expect(bootUrl({ architectures: [27] })).toBeUndefined();
});

test.each([
  ['with 16-bit lengths (RFC 8415)', encodeItems(['iPXE'])],
  ['with an 8-bit length, as over IPv4', ascii('\x04iPXE')],
  ['bare', ascii('iPXE')],
])('iPXE is known by its user class %s, and told its script', (_, userClass) => {
  expect(bootUrl({ architectures: [7], userClass })).toBe(`${site.httpUrl}/boot.ipxe`);
});

test.each(['', '00', '0005ff', '000000'])('user class bytes %j are read as something', (hex) => {
  expect(userClasses6(Buffer.from(hex, 'hex')).length).toBeLessThanOrEqual(1);
});

test('a vendor class whose items do not add up is one item', () => {
  const bytes = Buffer.concat([Buffer.from([0, 0, 1, 87]), ascii('PXEClient:Arch:00007')]);
  expect(vendorClass(bytes)).toEqual({ enterprise: 343, items: ['PXEClient:Arch:00007'] });
});

test('firmware that loads iPXE again and again is not given it once more, iPXE its script still', () => {
  const bench = new Bench6();
  bench.isLooping = true;
  const url = (values: OptionValues) => optionOf(bench.reply(client('solicit', values)), 'bootFileUrl');
  expect(url({ architectures: [7] })).toBeUndefined();
  expect(url({ architectures: [7], userClass: encodeItems(['iPXE']) })).toContain('boot.ipxe');
});

test('the ramdisk is told where its site is', () => {
  expect(bootUrl({ userClass: encodeItems(['railhead-ramdisk']) })).toBe(site.machineUrl);
});

test('a client that does not boot from the network is told no boot file', () => {
  expect(bootUrl({ optionRequest: [59, 23] })).toBeUndefined();
});

test('the MAC is that of the interface that asks, by its address', () => {
  expect(facts({}).mac).toBe(mac);
});

test('a DUID-LLT or DUID-LL has the MAC where the address has none', () => {
  const from = 'fe80::1234:5678:9abc:def0';
  expect(facts({ clientId: Buffer.from('0001000130a1b2c3020000000001', 'hex') }, from).mac).toBe(
    '02:00:00:00:00:01',
  );
  expect(facts({ clientId: Buffer.from('00030001020000000002', 'hex') }, from).mac).toBe('02:00:00:00:00:02');
  expect(facts({ clientId: Buffer.from('00030006020000000002', 'hex') }, from).mac).toBeUndefined();
});

test('a DUID-UUID says the product UUID', () => {
  expect(facts({}).uuid).toBe('00112233-4455-6677-8899-aabbccddeeff');
});
