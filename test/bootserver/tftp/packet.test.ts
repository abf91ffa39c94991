import { assert, property, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalFileName } from '#bootserver/tftp/fileName.ts';
import { decodeTftp, encodeData, encodeError, encodeOptionAck } from '#bootserver/tftp/packet.ts';
import { readDatagrams } from '../pcap.ts';
import { readRequest } from './samples.ts';

test('a read request with options in any case', () => {
  const packet = decodeTftp(readRequest('a/b.efi', { BLKSIZE: '1468', tsize: '0' }));
  expect(packet).toEqual({
    kind: 'read',
    file: 'a/b.efi',
    mode: 'octet',
    options: new Map([
      ['blksize', '1468'],
      ['tsize', '0'],
    ]),
  });
});

test('the first of a repeated option counts, one without a value is dropped', () => {
  const bytes = Buffer.from('\0\x01f\0octet\0blksize\x00512\0blksize\x001024\0tsize', 'latin1');
  expect(decodeTftp(bytes)).toMatchObject({ options: new Map([['blksize', '512']]) });
});

test.each([
  ['an ACK', '00040001', { kind: 'ack', block: 1 }],
  ['an ERROR', '0005000861626f727400', { kind: 'error', code: 8, message: 'abort' }],
  ['an ERROR without its NUL', '00050000616263', { kind: 'error', code: 0, message: 'abc' }],
  ['a write request', '00026600006f6374657400', { kind: 'write' }],
  ['a request without a mode', '00016600', { kind: 'read', file: 'f', mode: '', options: new Map() }],
  [
    'a request without a name',
    '0001006f6374657400',
    { kind: 'read', file: '', mode: 'octet', options: new Map() },
  ],
])('%s is read', (_, hex, packet) => {
  expect(decodeTftp(Buffer.from(hex, 'hex'))).toEqual(packet);
});

test.each(['', '0001', '000300010000', '00060000', 'ffff0000'])(
  '%j is nothing that a client of a read-only server sends',
  (hex) => {
    expect(decodeTftp(Buffer.from(hex, 'hex'))).toBeUndefined();
  },
);

test('no bytes make the parser throw', () => {
  assert(
    property(uint8Array({ maxLength: 100 }), (bytes) => {
      decodeTftp(Buffer.concat([Buffer.from([0, 1]), bytes]));
      decodeTftp(Buffer.from(bytes));
    }),
    { numRuns: 2000 },
  );
});

test('what firmware asked in the recorded boots is understood', () => {
  const files = ['p4-b-uefi-pxe', 'p4-d-uefi-sb'].flatMap((name) =>
    readDatagrams(`test/fixtures/dhcp/${name}.pcap`)
      .filter(({ destinationPort }) => destinationPort === 69)
      .map(({ payload }) => decodeTftp(payload))
      .map((packet) => (packet?.kind === 'read' ? packet.file : packet?.kind)),
  );
  expect(files).toContain('snponly.efi');
  expect(files).toContain('revocations_sku.efi');
  expect(files).toContain('/grub/grub.cfg');
});

test('DATA has its number and its bytes', () => {
  expect(encodeData(65_535, Buffer.alloc(0)).toString('hex')).toBe('0003ffff');
  expect(encodeData(1, Buffer.from([9])).toString('hex')).toBe('0003000109');
});

test('an OACK is exactly its pairs, an ERROR ends with a NUL', () => {
  expect(encodeOptionAck(new Map([['blksize', '1468']]))).toEqual(Buffer.from('\0\x06blksize\x001468\0'));
  expect(encodeError(1, 'no')).toEqual(Buffer.from('\0\x05\0\x01no\0'));
});

test.each([
  ['snponly.efi', 'snponly.efi'],
  ['/snponly.efi', 'snponly.efi'],
  ['//a//b', 'a/b'],
  ['\\EFI\\a.efi', 'EFI/a.efi'],
  ['./a', 'a'],
  ['../a', undefined],
  ['a/../../b', undefined],
  ['', undefined],
  ['/', undefined],
  ['a\nb', undefined],
])('file name %j is looked up as %j', (name, canonical) => {
  expect(canonicalFileName(name)).toBe(canonical);
});
