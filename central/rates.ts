import type { Rate } from '#doors/rateLimiter.ts';

/** How often the centre may be asked. */
export interface CentralRates {
  /** At the API, by one token. */
  token: Rate;
  /** At the API, from one address: all operators behind one proxy that is not named as trusted. */
  apiAddress: Rate;
  /** At the agents' listener, by one agent that has joined. */
  agent: Rate;
  /** At the agents' listener, from one address: all sites behind one translated address. */
  agentsAddress: Rate;
}

export const defaultRates: CentralRates = {
  token: { perSecond: 100, burst: 1000 },
  apiAddress: { perSecond: 1000, burst: 5000 },
  agent: { perSecond: 50, burst: 500 },
  agentsAddress: { perSecond: 2000, burst: 20_000 },
};
