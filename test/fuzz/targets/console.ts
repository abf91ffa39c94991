import assert from 'node:assert/strict';
import { LineCutter } from '#console/lines.ts';
import { Entry } from '#console/ssh/entry.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** What a serial port prints, cut into lines; and the command line of a BMC before it. The first byte says how it is cut. */
export const target: FuzzTarget = {
  seeds: [
    text('\x10UEFI \x1b[2J\x1b[1;1HSetup\x1b[0m\r\n10 %\r100 %\r\n\x1b]0;title\x07login: '),
    text('\x03User:admin logged-in\r\n</>hpiLO-> Starting\r\nracadm>>'),
    text('\x01é€😀\b\b\x9b31m\x1b(B\u202e'),
  ],
  longest: 2048,
  run(input) {
    const size = Math.max(1, input[0] ?? 1);
    const cutter = new LineCutter();
    const entry = new Entry({ commands: ['a', 'b'], otherwise: ['c'] });
    const lines: string[] = [];
    for (let at = 1; at < input.length; at += size) {
      const piece = input.subarray(at, at + size);
      lines.push(...cutter.push(piece));
      entry.next(piece.toString('latin1'));
      entry.isBack('');
    }
    lines.push(...cutter.rest());
    for (const line of lines) {
      assert(line.length <= 1001 && line.isWellFormed());
      assert(!/[\p{Cc}\p{Cf}]/u.test(line), 'a terminal would obey it');
    }
    assert(entry.words.length <= 300);
  },
};
