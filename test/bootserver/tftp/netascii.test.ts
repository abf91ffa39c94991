import { assert, property, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { netascii } from '#bootserver/tftp/netascii.ts';

test('a line feed is CR LF, a carriage return CR NUL', () => {
  expect(netascii(Buffer.from('a\nb\rc\r\n')).toString('latin1')).toBe('a\r\nb\r\0c\r\0\r\n');
});

test('what a client translates back is the file, whatever its bytes', () => {
  assert(
    property(uint8Array(), (bytes) => {
      const text = netascii(Buffer.from(bytes)).toString('latin1');
      const back = text.replace(/\r([\n\0])/g, (_, next) => (next === '\n' ? '\n' : '\r'));
      expect(Buffer.from(back, 'latin1')).toEqual(Buffer.from(bytes));
    }),
  );
});

test('many readers cost one translation', () => {
  const content = Buffer.from('a\n');
  expect(netascii(content)).toBe(netascii(content));
});
