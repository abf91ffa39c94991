import type { FuzzTarget } from './target.ts';
import { type Fault, trial } from './trial.ts';

const mostTries = 2000;

/** A shorter input with the same fault: spans are left out as long as the fault stays. */
export async function shrink(target: FuzzTarget, input: Buffer, fault: Fault): Promise<Buffer> {
  let smallest = input;
  // A slow input takes its time with every try.
  let tries = fault.what === 'slow' ? 0 : mostTries;
  for (let size = input.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < smallest.length && tries > 0; tries--) {
      const shorter = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
      if ((await trial(target, shorter))?.place === fault.place) smallest = shorter;
      else at += size;
    }
  }
  return smallest;
}
