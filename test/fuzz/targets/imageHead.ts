import { inspectHead } from '#ramdisk/stream/inspect.ts';
import { isRailheadError, text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** The first bytes of an image: facts, or why it is not what the catalog says. */
export const target: FuzzTarget = {
  seeds: [
    ...['514649fb00000003', '28b52ffd', '1f8b08', 'fd377a585a00', '4b444d56', '00'.repeat(600)].map((hex) =>
      Buffer.from(hex, 'hex'),
    ),
    ...['vhdxfile', '  <!DOCTYPE html>', '<html>'].map(text),
  ],
  longest: 1 << 20,
  run: (input) => inspectHead(input, { format: 'raw', compression: 'none' }, 4096),
  declares: isRailheadError,
};
