import { expect, test } from 'vitest';
import { appletNames } from '#ramdisk/image/applets.ts';

test('the applets are read from among the program’s other texts, to the end of their list', () => {
  const program = Buffer.from('usage: [-x]\0 ["\xae [\0[[\0acpid\0ar\0zcat\0\0/var/log/wtmp\0', 'latin1');
  expect(appletNames(program)).toEqual(['[', '[[', 'acpid', 'ar', 'zcat']);
});

test.each([
  ['no list', 'usage: [ expression ]\0\0'],
  ['a list without an end', 'x[\0[[\0acpid'],
])('a program with %s is refused', (_what, text) => {
  expect(() => appletNames(Buffer.from(text))).toThrow('no list of applets');
});
