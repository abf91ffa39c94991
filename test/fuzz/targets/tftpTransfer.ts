import assert from 'node:assert/strict';
import { type Step, Transfer } from '#bootserver/tftp/transfer.ts';
import type { FuzzTarget } from '../target.ts';

const content = Buffer.alloc(3000, 'x');

/**
 * What a client may do to one transfer: the first byte chooses what was agreed on, then each byte is an acknowledgement, a repeated
 * request or silence. However it goes on, no step sends more than a window.
 */
export const target: FuzzTarget = {
  seeds: ['00', '01000102030405', '0f0001ff01ff02fe', '1003fdfdfdfd', '040000000000'].map((hex) =>
    Buffer.from(hex, 'hex'),
  ),
  longest: 2048,
  run(input) {
    const first = input[0] ?? 0;
    const windowSize = 1 + (first & 15);
    const accepted = new Map((first & 16) === 0 ? [] : [['windowsize', String(windowSize)]]);
    const transfer = new Transfer(content, { blockSize: 64, windowSize, wrapsTo: 0, accepted });
    let step = transfer.start(0);
    for (let at = 1; at < input.length && step.outcome === 'running'; at++) {
      step = next(transfer, input[at]!, at);
      assert(step.send.length <= windowSize, 'more than a window is sent at once');
      assert(transfer.bytesAcked <= content.length);
    }
  },
};

function next(transfer: Transfer, byte: number, now: number): Step {
  if (byte === 255) return transfer.timedOut();
  if (byte === 254) return transfer.requestedAgain();
  return transfer.acknowledged(byte === 253 ? 65_535 : byte, now);
}
