/** What follows block 65,535: RFC 1350 does not say. 0 is what iPXE, GRUB and most clients expect; some expect 1. */
export type WrapsTo = 0 | 1;

const most = 0xffff;

/** The 16 bits on the wire for a block that is counted from 1 without end; 0 is what acknowledges an OACK (RFC 2347). */
export function wireNumber(block: number, wrapsTo: WrapsTo): number {
  if (wrapsTo === 0) return block & most;
  return block === 0 ? 0 : ((block - 1) % most) + 1;
}

/** The first block from `acked` on whose number on the wire is `number`. */
export function blockFrom(acked: number, number: number, wrapsTo: WrapsTo): number {
  const period = wrapsTo === 0 ? most + 1 : most;
  const ahead = (number - wireNumber(acked, wrapsTo)) % period;
  return acked + (ahead < 0 ? ahead + period : ahead);
}

/** Whether a file of `size` bytes has more blocks than the wire can number, so that some clients cannot load it. */
export function wraps(size: number, blockSize: number): boolean {
  return Math.floor(size / blockSize) + 1 > most;
}
