import { rootCertificates } from 'node:tls';
import { Agent } from 'undici';
import { RailheadError } from '#contract/errors.ts';
import { type PullOptions, type PullTarget, pullHttps } from './https.ts';

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
 * Pulls one source by the scheme of its URL.
 * @throws RailheadError UNSUPPORTED for a scheme that has no puller; see pullHttps for the rest
 */
export function pullSource(
  source: string,
  target: PullTarget,
  options: PullOptions,
): Promise<{ contentType?: string }> {
  if (source.startsWith('oci:'))
    throw new RailheadError(
      'UNSUPPORTED',
      'oci:// sources cannot be pulled yet: register an https:// source',
      {
        reason: 'scheme',
      },
    );
  return pullHttps(source, target, options);
}
