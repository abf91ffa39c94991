import { rootCertificates } from 'node:tls';
import { Agent } from 'undici';
import { type PullOptions, type PullTarget, pullHttps } from './https.ts';
import { pullOci } from './oci/pull.ts';

export interface SourceTimeouts {
  connectMs: number;
  /** The longest silence, before the headers and between two pieces of the body. */
  idleMs: number;
}

/** The connections to image sources. `sourceCa` is trusted beside the system's CAs. */
export function sourceAgent(sourceCa: string | undefined, { connectMs, idleMs }: SourceTimeouts): Agent {
  return new Agent({
    allowH2: false,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    connect: {
      timeout: connectMs,
      ...(sourceCa !== undefined && { ca: [...rootCertificates, sourceCa] }),
    },
  });
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
