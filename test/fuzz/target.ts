/** One parser of bytes that come from outside, and what is asked of it. */
export interface FuzzTarget {
  /** Good inputs and edge cases; mutations start from these. */
  seeds: readonly Buffer[];
  /** The most bytes that its wire, or the limit before it, lets in. */
  longest: number;
  /** Parses one input, and throws when what comes out breaks a promise of the parser. */
  run(input: Buffer): unknown;
  /** Whether an exception is the one that the parser declares for broken input. A total parser has none. */
  declares?(error: unknown): boolean;
}
