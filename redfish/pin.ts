import { createHash } from 'node:crypto';
import { DEFAULT_CIPHERS, type TLSSocket } from 'node:tls';
import { Agent, buildConnector } from 'undici';
import { RailheadError } from '#contract/errors.ts';
import { longestAnswer, NotConnected } from './transport.ts';

export interface PinOptions {
  /** sha256 of the certificate (DER), lower-case hex. Without it the first certificate seen becomes the pin. */
  certificateSha256?: string;
  onPin?: (certificateSha256: string) => void;
  /**
   * For a BMC that speaks nothing better: TLS 1.0 and the ciphers that OpenSSL calls weak. Of this one BMC
   * only; the pin still says whom we speak to.
   */
  oldTls?: boolean;
}

const requestLimits = { headersTimeout: 60_000, bodyTimeout: 30_000, maxResponseSize: longestAnswer };
/** Whoever reads a stream notices when it falls silent. */
const streamLimits = { headersTimeout: 60_000, bodyTimeout: 0, maxResponseSize: -1 };

const oldTls = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
/** Without RSA key exchange: who once gets the BMC's key could read what was recorded before, the password in it. */
const usualTls = { minVersion: 'TLSv1.2', ciphers: `${DEFAULT_CIPHERS}:!kRSA` } as const;

export interface PinnedAgents {
  agent: Agent;
  /** For a stream of events, beside those of requests. */
  streams: Agent;
}

/**
 * Connections to one BMC. Its certificate is compared with the pin on every new connection before a byte of
 * HTTP is sent. Nobody vouches for a BMC's certificate, so the pin is the check: `rejectUnauthorized` off also
 * switches `checkServerIdentity` off, and a resumed TLS 1.2 session shows no certificate at all, hence no
 * cached sessions.
 */
export function pinnedAgents(options: PinOptions): PinnedAgents {
  let pin = options.certificateSha256;
  const dial = buildConnector({
    rejectUnauthorized: false,
    maxCachedSessions: 0,
    timeout: 5000,
    allowH2: false,
    ...(options.oldTls ? oldTls : usualTls),
  });
  const check = (found: string | undefined) => {
    if (pin === undefined && found !== undefined) {
      pin = found;
      options.onPin?.(found);
    }
    return found !== undefined && found === pin;
  };
  const connect: buildConnector.connector = (target, done) =>
    dial(target, (error, socket) => {
      if (error !== null) return done(new NotConnected(error), null);
      const found = fingerprint(socket as TLSSocket);
      if (check(found)) return done(null, socket);
      const mismatch = pinMismatch(pin, found);
      socket.destroy(mismatch);
      done(mismatch, null);
    });
  return {
    // One write and two reads at a time.
    agent: new Agent({ ...requestLimits, connections: 3, connect }),
    streams: new Agent({ ...streamLimits, connections: 1, connect }),
  };
}

function fingerprint(socket: TLSSocket): string | undefined {
  const der = socket.getPeerX509Certificate?.()?.raw;
  return der && createHash('sha256').update(der).digest('hex');
}

function pinMismatch(expected: string | undefined, found: string | undefined): RailheadError {
  return new RailheadError(
    'DRIVER_ERROR',
    `the BMC shows the certificate ${found}, pinned is ${expected}: if the BMC was replaced, reset or renewed, run \`bcd site trust-bmc\`; if not, somebody stands in between`,
    { reason: 'pin-mismatch', expected, found },
  );
}
