import { decodeCursor, encodeCursor } from '#central/api/cursor.ts';
import { isRailheadError, text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** The position that a caller of a list hands back. */
export const target: FuzzTarget = {
  seeds: [encodeCursor(['name']), encodeCursor(['a b', 5]), '~', 'bnVsbA', 'W10'].map(text),
  longest: 256,
  run(input) {
    const cursor = input.toString('utf8');
    for (const types of [['string'], ['string', 'number']] as const) decodeCursor(cursor, ...types);
  },
  declares: isRailheadError,
};
