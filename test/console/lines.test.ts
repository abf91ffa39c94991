import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineCutter } from '#console/lines.ts';

function cut(...pieces: (string | Buffer)[]): string[] {
  const cutter = new LineCutter();
  const lines = pieces.flatMap((piece) => cutter.push(Buffer.from(piece as string)));
  return [...lines, ...cutter.rest()];
}

test.each<[string, string[], string[]]>([
  ['lines, whatever ends them', ['a\nb\r\nc\r\r\nd'], ['a', 'b', 'c', 'd']],
  ['a line cut anywhere', ['lo', 'gin', ': \r', '\nx'], ['login:', 'x']],
  ['a progress bar, as it was at last', ['10 %\r50 %\r100 %\n'], ['100 %']],
  ['colours', ['\x1b[1;31mred\x1b[0m\n'], ['red']],
  ['a control sequence cut anywhere', ['\x1b', '[1;3', '1mred\x1b[', '0m\n'], ['red']],
  ['a title and a character set', ['\x1b]0;evil\x07a\x1b(Bb\x1b]2;x\x1b\\c\n'], ['abc']],
  ['a screen of firmware', ['\x1b[2J\x1b[1;1HSetup\x1b[2;1HBoot'], ['Setup', 'Boot']],
  ['deleted characters', ['pass\b\b\b\bok\n'], ['ok']],
  ['what would turn the text round or hide in it', ['a\u202eb\u200bc\0d\n'], ['abcd']],
  ['a sequence that never ends', [`\x1b]${'x'.repeat(300)}\nafter\n`], [`${'x'.repeat(300 - 256)}`, 'after']],
])('%s', (_what, pieces, lines) => expect(cut(...pieces)).toEqual(lines));

test('a character of several bytes that is cut is whole again; what is none is marked', () => {
  const bytes = Buffer.from('é€😀\n');
  const pieces = [...bytes].map((byte) => Buffer.of(byte));
  expect(cut(...pieces)).toEqual(['é€😀']);
  expect(cut(Buffer.from('a\xffb\n', 'latin1'))).toEqual(['a\ufffdb']);
});

test('a line without an end is cut', () => {
  expect(cut('x'.repeat(2500)).map((line) => line.length)).toEqual([1000, 1000, 500]);
});

test('any bytes, cut anywhere, become lines that move nothing in a terminal', () => {
  const parts = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom('\x1b[', '\x1b]', '\r', '\n', '\x9b', 'é', '\x1b(').map((text) => Buffer.from(text)),
    ),
  );
  fc.assert(
    fc.property(parts, (pieces) => {
      const whole = Buffer.concat(pieces);
      const lines = cut(...pieces.map((piece) => Buffer.from(piece)));
      expect(lines).toEqual(cut(whole));
      for (const line of lines) {
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        expect(line.length).toBeLessThanOrEqual(1001);
      }
    }),
  );
});
