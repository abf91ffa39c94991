import { type Dispatcher, request } from 'undici';
import { unreachable } from '../../faults.ts';
import type { Authorizer } from '../authorizer.ts';
import { authorizationFor, publicPart } from '../redirects.ts';
import { type Challenge, parseChallenge } from './challenge.ts';

/** A token is some kilobytes; what is longer is something else. */
const tokenLimit = 256 * 1024;

/**
 * Asks a registry without credentials first, then as it demands: by user and password, or by a token of the service that its
 * challenge names (the "token" authentication that registries share). The token lives as long as the pull.
 */
export function registryAuthorizer(registry: URL, dispatcher: Dispatcher): Authorizer {
  let authorization: string | undefined;
  return {
    headersFor: (url) =>
      authorization !== undefined && url.origin === registry.origin ? { authorization } : {},
    renew: async (header, signal) => {
      const before = authorization;
      const challenge = parseChallenge(header);
      authorization =
        challenge?.scheme === 'bearer'
          ? `Bearer ${await askToken(challenge, registry, dispatcher, signal)}`
          : authorizationFor(registry, registry).authorization;
      return challenge !== undefined && authorization !== undefined && authorization !== before;
    },
  };
}

async function askToken(
  { realm, service, scope }: Extract<Challenge, { scheme: 'bearer' }>,
  registry: URL,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<string> {
  const url = URL.canParse(realm) ? new URL(realm) : undefined;
  if (url?.protocol !== 'https:') throw unreachable(publicPart(registry), 'its token service is not https');
  if (service !== undefined) url.searchParams.set('service', service);
  if (scope !== undefined) url.searchParams.set('scope', scope);
  const headers = basicOf(registry);
  const { statusCode, body } = await request(url, { dispatcher, signal, headers });
  const token = statusCode === 200 ? tokenIn(await limited(body)) : undefined;
  if (token !== undefined) return token;
  await body.dump({ limit: tokenLimit }).catch(() => {});
  throw unreachable(publicPart(url), `no token, HTTP ${statusCode}`, { status: statusCode });
}

/** The registry's user and password are for its token service as well, wherever that is. */
function basicOf(registry: URL): Record<string, string> {
  return authorizationFor(registry, registry);
}

async function limited(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > tokenLimit) return '';
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** `token`, or `access_token` as OAuth 2 calls it; only what can stand in a header. Never throws. */
export function tokenIn(text: string): string | undefined {
  try {
    const { token, access_token: accessToken } = JSON.parse(text) as Record<string, unknown>;
    return [token, accessToken].find(
      (found): found is string => typeof found === 'string' && /^[\x21-\x7e]{1,65536}$/.test(found),
    );
  } catch {
    return undefined;
  }
}
