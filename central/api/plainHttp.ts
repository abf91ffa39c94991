import { BlockList, isIP } from 'node:net';
import { RailheadError } from '#contract/errors.ts';

/** Where an API listens, and how. */
export interface ApiPlace {
  host: string;
  tls?: boolean | undefined;
  /** A proxy stands in front that speaks TLS. */
  plain?: boolean | undefined;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Tokens and credentials of BMCs travel by the API: they leave the host in the clear only where somebody has said so.
 * @throws RailheadError INVALID_CONFIG
 */
export function refusePlainHttp({ host, tls, plain }: ApiPlace): void {
  if (tls === true || plain === true || isLoopback(host)) return;
  throw new RailheadError(
    'INVALID_CONFIG',
    `the API would speak plain HTTP on ${host}: give it TLS (--api-tls), or say that a proxy before it does (--api-plain)`,
    { path: 'api', reason: 'plain-http', host },
  );
}

function isLoopback(host: string): boolean {
  const family = isIP(host);
  return family === 0 ? host === 'localhost' : loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}
