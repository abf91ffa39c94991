import type { WrapsTo } from './blockNumbers.ts';

/** What a server is ready to agree to. */
export interface TransferLimits {
  /** Largest block, so that a datagram fits the MTU. */
  blockSize: number;
  /** Most blocks between two acknowledgements. */
  windowSize: number;
  /** Of a client that does not say by itself; 0 unless a quirk says otherwise. */
  wrapsTo?: WrapsTo;
}

/** What was agreed on for one transfer. */
export interface Agreement {
  blockSize: number;
  windowSize: number;
  /** The longest wait before a retransmission that the client wishes. */
  timeoutMs?: number;
  wrapsTo: WrapsTo;
  /** What to acknowledge, in the order asked; empty when nothing was asked for or known. */
  accepted: Map<string, string>;
}

type Negotiator = (value: number, size: number, limits: TransferLimits) => number | undefined;

/** Without the option, whatever the MTU: a shorter block would be the file's end (RFC 1350 §2). */
const plainBlockSize = 512;

/**
 * Each option that is known: the value agreed to, or undefined to leave it out. Ranges: RFC 2348, RFC 2349, RFC 7440; `rollover` is
 * tftp-hpa's own (tftpd(8)).
 */
const negotiators: Readonly<Record<string, Negotiator>> = {
  blksize: (value, _, limits) => (within(value, 8, 65464) ? Math.min(value, limits.blockSize) : undefined),
  tsize: (_, size) => size,
  timeout: (value) => (within(value, 1, 255) ? value : undefined),
  windowsize: (value, _, limits) =>
    within(value, 1, 65535) ? Math.min(value, limits.windowSize) : undefined,
  rollover: (value) => (within(value, 0, 1) ? value : undefined),
};

/** Agrees to the options of a read request for a file of `size` bytes. Never to more than was asked, nor to what was not asked. */
export function negotiate(
  asked: ReadonlyMap<string, string>,
  size: number,
  limits: TransferLimits,
): Agreement {
  const accepted = new Map<string, string>();
  for (const [name, text] of asked) {
    if (!Object.hasOwn(negotiators, name) || !/^\d{1,10}$/.test(text)) continue;
    const value = negotiators[name]?.(Number(text), size, limits);
    if (value !== undefined) accepted.set(name, String(value));
  }
  const [timeout, rollover] = [accepted.get('timeout'), accepted.get('rollover')];
  return {
    blockSize: Number(accepted.get('blksize') ?? plainBlockSize),
    windowSize: Number(accepted.get('windowsize') ?? 1),
    ...(timeout !== undefined && { timeoutMs: Number(timeout) * 1000 }),
    wrapsTo: rollover === undefined ? (limits.wrapsTo ?? 0) : rollover === '1' ? 1 : 0,
    accepted,
  };
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
