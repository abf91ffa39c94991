import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bootItem, decodeVendorOptions, encodeVendorOptions } from '#bootserver/dhcp/vendorOptions.ts';

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

test('case 13: the end byte stands inside option 43', () => {
  expect(encodeVendorOptions([[6, Buffer.from([8])]])).toEqual(bytes('06 01 08 ff'));
});

test('case 13: an option 43 without an end byte is read too', () => {
  expect(decodeVendorOptions(bytes('06 01 08'))).toEqual(new Map([[6, bytes('08')]]));
});

test('case 8: a boot item is type and layer; bit 15 of the layer asks for credentials', () => {
  expect(bootItem(bytes('47 04 80 00 00 00 ff'))).toEqual({
    bytes: bytes('80 00 00 00'),
    wantsCredentials: false,
  });
  expect(bootItem(bytes('47 04 00 01 80 00 ff'))?.wantsCredentials).toBe(true);
});

test.each(['', 'ff', '47 03 80 00 00 ff', '47 04 80 00', '52 61 73 70'])('%j holds no boot item', (hex) => {
  expect(bootItem(bytes(hex))).toBeUndefined();
});

const subOption = fc.tuple(
  fc.integer({ min: 1, max: 254 }),
  fc.uint8Array({ maxLength: 20 }).map(Buffer.from),
);

test('what was encoded is decoded', () => {
  fc.assert(
    fc.property(fc.uniqueArray(subOption, { selector: ([number]) => number, maxLength: 8 }), (options) => {
      expect(decodeVendorOptions(encodeVendorOptions(options))).toEqual(new Map(options));
    }),
  );
});

test('any bytes are read or refused, without an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 255 }), (any) => {
      bootItem(Buffer.from(any));
    }),
  );
});
