import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher } from 'undici';
import { type PullOptions, type PullTarget, pullHttps } from './https.ts';
import { pullOci } from './oci/pull.ts';
import { type SourceProxy, throughProxy } from './proxy.ts';

export interface SourceTimeouts {
  connectMs: number;
  /** The longest silence, before the headers and between two pieces of the body. */
  idleMs: number;
}

export interface SourceConnections {
  /** Trusted beside the system's CAs. */
  sourceCa: string | undefined;
  proxy: SourceProxy | undefined;
  timeouts: SourceTimeouts;
}

/** The connections to image sources. */
export function sourceAgent({ sourceCa, proxy, timeouts }: SourceConnections): Dispatcher {
  const { connectMs, idleMs } = timeouts;
  const limits = { allowH2: false, headersTimeout: idleMs, bodyTimeout: idleMs };
  const tls = {
    timeout: connectMs,
    ...(sourceCa !== undefined && { ca: [...rootCertificates, sourceCa] }),
  };
  const direct = new Agent({ ...limits, connect: tls });
  return proxy === undefined
    ? direct
    : throughProxy(proxy, direct, { ...limits, requestTls: tls, proxyTls: tls });
}

/**
 * Pulls the artifact of a digest from one source, by the scheme of its URL.
 * @throws RailheadError: see pullHttps and pullOci
 */
export function pullSource(
  source: string,
  digest: string,
  target: PullTarget,
  options: PullOptions,
): Promise<{ contentType?: string }> {
  return source.startsWith('oci:')
    ? pullOci(source, digest, target, options)
    : pullHttps(source, target, options);
}
