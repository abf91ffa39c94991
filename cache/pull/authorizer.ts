import { authorizationFor } from './redirects.ts';

/** How requests to one source prove who asks. */
export interface Authorizer {
  /** The headers for a request to `url`: never the source's credentials for another origin. */
  headersFor(url: URL): Record<string, string>;
  /** Answers a refusal (401) of the source: true when another try has something new to show. */
  renew(challenge: string | undefined, signal: AbortSignal): Promise<boolean>;
}

/** The user and password that a source's URL has in it, if any. */
export function urlAuthorizer(source: URL): Authorizer {
  return { headersFor: (url) => authorizationFor(source, url), renew: async () => false };
}
