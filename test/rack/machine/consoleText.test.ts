import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConsoleText } from '#rack/machine/consoleText.ts';

const at = new Date('2026-01-02T03:04:05.678Z');
const stamp = '2026-01-02T03:04:05.678Z ';

function log(...pieces: (string | Buffer)[]): string {
  const text = new ConsoleText();
  return pieces.map((piece) => text.push(Buffer.from(piece as string), at)).join('');
}

test('each line begins with the time of its first character', () => {
  expect(log('one\r\ntwo\r\n')).toBe(`${stamp}one\n${stamp}two\n`);
});

test('a line comes out as it grows', () => {
  expect(log('>>Start PXE', ' over IPv4.')).toBe(`${stamp}>>Start PXE over IPv4.`);
});

test('colours go, cut between pieces or not', () => {
  expect(log('\u001b[0;1miPXE\u001b[0', 'm 1.0')).toBe(`${stamp}iPXE 1.0`);
});

test('a cursor sent elsewhere begins a new line, once', () => {
  expect(log('menu\u001b[2J\u001b[01;01H\u001b[3;1Hentry')).toBe(`${stamp}menu\n${stamp}entry`);
});

test('a progress line that is drawn again is a line each time', () => {
  expect(log('1 %\r2 %\r\n')).toBe(`${stamp}1 %\n${stamp}2 %\n`);
});

test('a character cut between pieces is whole', () => {
  const bytes = Buffer.from('é');
  expect(log(bytes.subarray(0, 1), bytes.subarray(1))).toBe(`${stamp}é`);
});

test('whatever comes, the log is lines with time stamps and no control characters', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
      const text = log(...pieces.map((piece) => Buffer.from(piece)));
      for (const line of text.split('\n').filter(Boolean)) expect(line.startsWith(stamp)).toBe(true);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: their absence is what is tested
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
    }),
  );
});
