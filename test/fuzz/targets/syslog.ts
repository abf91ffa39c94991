import assert from 'node:assert/strict';
import { installerLine, longestText, readSyslog } from '#bootserver/syslog/message.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** Syslog: always one line, of a known severity, harmless to a terminal. */
export const target: FuzzTarget = {
  seeds: [
    '<34>1 2003-10-11T22:14:15.003Z host su - ID47 - \ufeffroot failed',
    '<165>1 2003-10-11T22:14:15.003Z h e 77 ID [a@1 b="3" c="\\"\\]\\\\"][d@2 e="f"] text',
    '<34>Oct 11 22:14:15 host su: failed',
    '<30>Oct  1 22:14:15 main-menu[310]: INFO',
    '<27>2026-11-29T20:14:15.123456+01:00 node anaconda: no disk',
    '<192>x',
    'no priority',
  ].map(text),
  longest: 65_507,
  run(input) {
    const message = readSyslog(input);
    assert(message.severity >= 0 && message.severity <= 7);
    assert(message.text.length <= longestText && message.text.isWellFormed());
    assert(!/[\p{Cc}\u202a-\u202e]/u.test(installerLine(message)), 'a terminal would obey it');
  },
};
