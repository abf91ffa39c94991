import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Entry } from '#console/ssh/entry.ts';
import { PortKeys } from '#console/ssh/keys.ts';

test.each([
  ['iDRAC', 'racadm>>'],
  ['iDRAC before 9', '/admin1-> '],
  ['iLO', 'User:admin logged-in\r\n\r\n</>hpiLO-> '],
  ['XCC', '\r\nsystem> '],
  ['Supermicro', 'Copyright\r\n\r\n-> '],
  ['a coloured one', '\x1b[32msystem>\x1b[0m '],
])('the prompt of %s is known, however it is cut', (_whose, text) => {
  const entry = new Entry({ commands: ['go'] });
  const keys = [...text].map((character) => entry.next(character)).filter((typed) => typed !== undefined);
  expect(keys).toEqual(['go\r']);
  expect(entry.done).toBe(true);
});

test('what only looks like a prompt in the middle of a banner is none', () => {
  const entry = new Entry({ commands: ['go'] });
  expect(entry.next('use <tab> to complete\r\nlast login > yesterday\r\n')).toBeUndefined();
});

test('the very prompt that comes back is told; another is the machine’s', () => {
  const entry = new Entry({ commands: ['console com2'] });
  entry.next('racadm>>');
  expect(entry.isBack('root@host:~# ')).toBe(false);
  expect(entry.isBack('\r\nracadm>>')).toBe(true);
});

test('any words of a BMC are taken', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (pieces) => {
      const entry = new Entry({ commands: ['a', 'b'], otherwise: ['c'] });
      for (const piece of pieces) {
        entry.next(piece);
        entry.isBack(piece);
      }
      expect(entry.words.length).toBeLessThanOrEqual(300);
    }),
  );
});

test('keys that leave the port never go whole, and a lone escape goes at once', () => {
  const keys = new PortKeys('\x1b(');
  const typed = (text: string) => keys.typed(Buffer.from(text, 'latin1')).toString('latin1');
  expect(typed('\x1b')).toBe('\x1b');
  expect(typed('(x(')).toBe('x(');
  expect(typed('\x1b[A')).toBe('\x1b[A');
  expect(new PortKeys().typed(Buffer.from('\x1b('))).toEqual(Buffer.from('\x1b('));
});
