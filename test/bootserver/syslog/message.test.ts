import fc from 'fast-check';
import { expect, test } from 'vitest';
import { installerLine, longestText, readSyslog } from '#bootserver/syslog/message.ts';

const read = (text: string) => readSyslog(Buffer.from(text));

test.each([
  [
    'RFC 5424 §6.5, example 1',
    "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \ufeff'su root' failed for lonvick on /dev/pts/8",
    { severity: 2, program: 'su', text: "'su root' failed for lonvick on /dev/pts/8" },
  ],
  [
    'RFC 5424 §6.5, example 3: structured data',
    '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog 77 ID47 [exampleSDID@32473 iut="3" eventSource="App \\"x\\] y"][examplePriority@32473 class="high"] \ufeffAn application event',
    { severity: 5, program: 'evntslog[77]', text: 'An application event' },
  ],
  [
    'RFC 5424 §6.5, example 4: no message',
    '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 [exampleSDID@32473 iut="3"]',
    { severity: 5, program: 'evntslog', text: '' },
  ],
  [
    'RFC 3164 §5.4, example 1',
    "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8",
    { severity: 2, program: 'su', text: "'su root' failed for lonvick on /dev/pts/8" },
  ],
  [
    "BusyBox's syslogd, which installers of Debian have: no host",
    '<30>Oct  1 22:14:15 main-menu[310]: INFO: Menu item selected',
    { severity: 6, program: 'main-menu[310]', text: 'INFO: Menu item selected' },
  ],
  [
    'a time of RFC 3339 before the old header',
    '<27>2026-11-29T20:14:15.123456+01:00 node-7 anaconda: no disk',
    { severity: 3, program: 'anaconda', text: 'no disk' },
  ],
  [
    'RFC 3164 §4.3.2: no time',
    '<13>root: partman says hello',
    { severity: 5, program: 'root', text: 'partman says hello' },
  ],
  ['RFC 3164 §4.3.3: no priority', 'Use the BFG!', { severity: 5, text: 'Use the BFG!' }],
  ['a priority beyond 191', '<192>x', { severity: 5, text: '<192>x' }],
  ['a priority with a leading zero', '<013>x', { severity: 5, text: '<013>x' }],
  [
    'a header of RFC 5424 whose structured data never ends',
    '<14>1 2003-10-11T22:14:15Z h a - - [x y="z ',
    { severity: 6, text: '1 2003-10-11T22:14:15Z h a - - [x y="z' },
  ],
  ['nothing', '', { severity: 5, text: '' }],
])('%s', (_name, datagram, message) => {
  expect(read(datagram)).toEqual(message);
});

test('nothing in a line moves the cursor of the terminal that shows it', () => {
  const { text, program } = read(
    '<11>Oct 11 22:14:15 h a\u009b2J: one\u001b[2Jtwo\r\nthree\u202eruof\u0000\n',
  );
  expect([program, text]).toEqual(['a 2J', 'one [2Jtwo three ruof']);
});

test('a line is as long as a line may be', () => {
  expect(read(`<13>${'x'.repeat(60_000)}`).text).toHaveLength(longestText);
});

test('a line that is a warning or worse says so', () => {
  expect(installerLine(read('<11>Oct 11 22:14:15 h a: b'))).toBe('error: a: b');
  expect(installerLine(read('<14>Oct 11 22:14:15 h a: b'))).toBe('a: b');
  expect(installerLine(read('<8>b'))).toBe('emergency: b');
});

test('any bytes are a message', () => {
  const header = fc.constantFrom(
    '',
    '<13>',
    '<191>Oct 11 22:14:15 h ',
    '<0>1 - - - - - ',
    '<9>1 - h a p - [a b="',
  );
  fc.assert(
    fc.property(header, fc.uint8Array({ maxLength: 400 }), (start, bytes) => {
      const { severity, text, program = '' } = readSyslog(Buffer.concat([Buffer.from(start), bytes]));
      expect(severity).toBeGreaterThanOrEqual(0);
      expect(severity).toBeLessThanOrEqual(7);
      expect(`${program}${text}`).not.toMatch(/\p{Cc}/u);
      expect(text.isWellFormed()).toBe(true);
    }),
  );
});

test('a sender names itself, and reads back what it said, in both forms', () => {
  const word = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_-]{0,20}$/);
  const text = fc.stringMatching(/^[a-z][ -~]{0,100}[a-z]$/);
  const severity = fc.integer({ min: 0, max: 7 });
  fc.assert(
    fc.property(word, text, severity, (program, said, level) => {
      const expected = { severity: level, program, text: said };
      expect(read(`<${8 + level}>Oct 11 22:14:15 host ${program}: ${said}`)).toEqual(expected);
      expect(read(`<${8 + level}>1 - host ${program} - - - ${said}`)).toEqual(expected);
    }),
  );
});
