import { assert, property, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { client6Facts } from '#bootserver/dhcp6/client.ts';
import { decodeAssociation } from '#bootserver/dhcp6/identityAssociation.ts';
import { decodeMessage, encodeMessage } from '#bootserver/dhcp6/message.ts';
import { dhcp6Options, type OptionName, readOption, writeOptions } from '#bootserver/dhcp6/options.ts';
import { unwrap } from '#bootserver/dhcp6/relay.ts';
import { Bench6, client } from './bench.ts';

test('a message is read back as it was written, unknown and repeated options too', () => {
  const more = [
    { code: 999, value: Buffer.from('c0ffee', 'hex') },
    { code: 999, value: Buffer.alloc(0) },
  ];
  const message = client('solicit', { optionRequest: [59, 60, 23] }, more);
  expect(decodeMessage(encodeMessage(message))).toEqual(message);
});

test.each([
  ['too-short', '010203'],
  ['too-short', '0c00'],
  ['option-overrun', '01abcdef0001'],
  ['option-overrun', '01abcdef0001000500'],
])('%s is said of what is no message', (malformed, hex) => {
  expect(decodeMessage(Buffer.from(hex, 'hex'))).toEqual({ malformed });
});

test('case 51: boot file parameters are texts with a 16-bit length each', () => {
  const [option] = writeOptions({ bootFileParameters: ['abc', 'root=/dev/ram'] });
  expect(option).toEqual({ code: 60, value: Buffer.from('\0\x03abc\0\x0droot=/dev/ram', 'latin1') });
});

test('an identity association without its header, or with options that overrun it, is none', () => {
  expect(decodeAssociation(Buffer.alloc(11))).toBeUndefined();
  expect(decodeAssociation(Buffer.concat([Buffer.alloc(12), Buffer.from([0, 5, 0, 9])]))).toBeUndefined();
});

test('no bytes make a parser or a decision throw', () => {
  const bench = new Bench6();
  const seed = encodeMessage(client('solicit', { optionRequest: [59], vendorClass: Buffer.alloc(8) }));
  assert(
    property(uint8Array({ maxLength: 200 }), uint8Array({ maxLength: 6 }), (tail, at) => {
      const changed = Buffer.from(seed);
      for (const [index, byte] of at.entries()) changed[(byte * 7 + index) % changed.length] = byte;
      for (const bytes of [Buffer.from(tail), Buffer.concat([changed, tail]), changed]) {
        const relayed = unwrap(bytes);
        if ('malformed' in relayed) continue;
        client6Facts(relayed, 'fe80::1');
        for (const name of Object.keys(dhcp6Options) as OptionName[])
          readOption(relayed.message.options, name);
        bench.ask(bytes);
      }
    }),
    { numRuns: 2_000 },
  );
});
