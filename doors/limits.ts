/** Milliseconds, and bytes of a request's line and headers together. */
export interface HttpLimits {
  maxHeaderSize: number;
  headersTimeout: number;
  requestTimeout: number;
  /** How often Node looks for those that are over their time. */
  connectionsCheckingInterval: number;
}

/** What every HTTP listener of ours bears, besides its rates. */
export const httpLimits: Readonly<HttpLimits> = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 10_000, // 10 seconds for the headers
  requestTimeout: 30_000, // 30 seconds for the whole request
  connectionsCheckingInterval: 2_000,
};

/** A connection on which nothing moves is closed after this long, in milliseconds: more than the longest poll, which is 60 seconds. */
export const idleMs = 90_000;

/** A refusal of a client that has not shown who it is costs it as much as this many answers: guessing is slow. */
export const refusalCost = 10;
