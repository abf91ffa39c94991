import { describe, expect, test } from 'vitest';
import { clientFacts } from '#bootserver/dhcp/client.ts';
import { canonicalUuid, machineUuid } from '#bootserver/dhcp/machineUuid.ts';
import { userClasses } from '#bootserver/dhcp/userClass.ts';
import { bootFile } from '#ipxe/bootFiles.ts';
import { ascii, clients, discover, hardware, type RawOptions, request } from './samples.ts';

const factsOf = (raw: RawOptions) => clientFacts(discover({}, raw));

describe('kind', () => {
  test.each([
    ['uefi64', 'uefi-pxe'],
    ['bios', 'bios-pxe'],
    ['http64', 'uefi-http'],
    ['arm64', 'uefi-pxe'],
    ['ipxeFull', 'ipxe'],
    ['ipxeBare', 'ipxe'],
    ['ipxeOurs', 'own-ipxe'],
    ['ramdisk', 'ramdisk'],
    ['os', 'os'],
  ] as const)('%s is %s', (client, kind) => {
    expect(factsOf(clients[client]).kind).toBe(kind);
  });

  test('iPXE is known by option 175 alone', () => {
    expect(factsOf({ ...clients.bios, 175: '130101' }).kind).toBe('ipxe');
  });

  test('iPXE is known by its user class alone, as one string or as a list', () => {
    expect(factsOf({ 77: ascii('iPXE') }).kind).toBe('ipxe');
    expect(factsOf({ 77: `04${ascii('iPXE')}0454657374` }).kind).toBe('ipxe');
  });

  test('a Raspberry Pi that says it is an x86 BIOS is told by its hardware prefix', () => {
    const packet = discover({}, clients.bios, { chaddr: hardware('dc:a6:32:00:00:01') });
    expect(clientFacts(packet).kind).toBe('raspberry-pi');
  });

  test('a message without anything is of a plain client', () => {
    expect(factsOf({}).kind).toBe('os');
  });
});

describe('architecture', () => {
  test.each([
    [6, 'uefi i386 tftp'],
    [7, 'uefi x86_64 tftp'],
    [9, 'uefi x86_64 tftp'],
    [10, 'uefi arm32 tftp'],
    [11, 'uefi aarch64 tftp'],
    [15, 'uefi i386 http'],
    [16, 'uefi x86_64 http'],
    [18, 'uefi arm32 http'],
    [19, 'uefi aarch64 http'],
    [0, 'bios x86_64 tftp'],
    [20, 'bios x86_64 http'],
    [22, 'uboot aarch64 tftp'],
  ])('%i is %s', (number, text) => {
    const { architecture } = clientFacts(discover({ vendorClass: 'PXEClient', architectures: [number] }));
    expect(Object.values(architecture ?? {}).toSorted()).toEqual(text.split(' ').toSorted());
  });

  test('the first known number of a list counts', () => {
    expect(factsOf({ 60: ascii('PXEClient'), 93: '00ff000b0007' }).architecture?.machine).toBe('aarch64');
  });

  test('a garbled or missing list is replaced by the number in the vendor class', () => {
    const vendorClass = ascii('PXEClient:Arch:00011:UNDI:003000');
    expect(factsOf({ 60: vendorClass, 93: '0b' }).architecture?.machine).toBe('aarch64');
    expect(factsOf({ 60: vendorClass }).architecture?.machine).toBe('aarch64');
  });

  test('an unknown number gets no boot file, rather than that of a BIOS', () => {
    const facts = factsOf({ 60: ascii('PXEClient:Arch:00255:UNDI:003000'), 93: '00ff' });
    expect(facts.architecture).toBeUndefined();
    expect(facts.kind).toBe('unknown-pxe');
  });

  test.each([
    ['bios', 'undionly.kpxe'],
    ['uefi64', 'snponly.efi'],
    ['http64', 'ipxe-amd64.efi'],
    ['arm64', 'ipxe-arm64.efi'],
  ] as const)('%s loads %s', (client, file) => {
    const { architecture } = factsOf(clients[client]);
    expect(architecture && bootFile(architecture)).toBe(file);
  });
});

describe('identity', () => {
  test('the key is hardware type and address, whatever client identifier comes with it', () => {
    const keys = [{}, { 61: '01020000000001' }, { 61: `ff${'ab'.repeat(14)}` }].map(
      (raw) => factsOf(raw).key,
    );
    expect(new Set(keys)).toEqual(new Set(['1/02:00:00:00:00:01']));
  });

  test('without a hardware address (InfiniBand) the key is the client identifier', () => {
    const facts = clientFacts(discover({}, { 61: 'ff0011' }, { htype: 32, hlen: 0 }));
    expect(facts.key).toBe('id/ff0011');
    expect(facts.mac).toBeUndefined();
  });

  test('the UUID of option 97 is turned to network order', () => {
    const option = Buffer.from('00ffeeddccbbaa99887766554433221100', 'hex');
    expect(machineUuid(option)).toBe('ccddeeff-aabb-8899-7766-554433221100');
  });

  test.each([
    ['all zeros', '00'.repeat(17)],
    ['all ones', `00${'ff'.repeat(16)}`],
    ['one that many boards share', '0003000200040005000006000700080009'],
    ['another type', `01${'0123456789abcdef'.repeat(2)}`],
    ['16 bytes', '0123456789abcdef'.repeat(2)],
    ['18 bytes', `0000${'0123456789abcdef'.repeat(2)}`],
  ])('case 26: %s is no UUID', (_, hex) => {
    expect(machineUuid(Buffer.from(hex, 'hex'))).toBeUndefined();
  });

  test('a UUID has one spelling', () => {
    expect(canonicalUuid('CCDDEEFF-AABB-8899-7766-554433221100')).toBe(
      'ccddeeff-aabb-8899-7766-554433221100',
    );
    expect(canonicalUuid('x')).toBeUndefined();
  });
});

test.each([
  ['69505845', ['iPXE']],
  ['0469505845', ['iPXE']],
  ['04695058450454657374', ['iPXE', 'Test']],
  ['00', ['\0']],
  ['ff41', ['\xffA']],
  ['', []],
])('user class %s is read as %o', (hex, classes) => {
  expect(userClasses(Buffer.from(hex, 'hex'))).toEqual(classes);
});

test('iPXE’s features are the one-byte sub-options that are set', () => {
  const { ipxeFeatures } = factsOf({ 175: 'b10501808610001301011501002401011901' });
  expect([...ipxeFeatures]).toEqual([19, 36]);
});

test('a REQUEST tells the same facts as a DISCOVER', () => {
  expect(clientFacts(request({}, clients.uefi64))).toEqual(clientFacts(discover({}, clients.uefi64)));
});
