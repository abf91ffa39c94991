import type { Rate } from '#doors/rateLimiter.ts';

/** How often the centre may be asked. */
export interface CentralRates {
  /** At the API, by one token. */
  token: Rate;
  /** Changes that its grants refuse to one token: each leaves an audit record. */
  refusals: Rate;
  /** At the API, from one address: all of them who show no good token. */
  apiAddress: Rate;
  /** At the agents' listener, by one agent that has joined. */
  agent: Rate;
  /** At the agents' listener, from one address: all of them who show no good certificate. */
  agentsAddress: Rate;
}

export const defaultRates: CentralRates = {
  token: { perSecond: 100, burst: 1000 },
  refusals: { perSecond: 0.2, burst: 300 },
  apiAddress: { perSecond: 1000, burst: 5000 },
  agent: { perSecond: 50, burst: 500 },
  agentsAddress: { perSecond: 2000, burst: 20_000 },
};
