import { X509Certificate } from 'node:crypto';
import { backoffMs } from '#base/backoff.ts';
import { systemClock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { Closable } from '#base/shutdown.ts';
import { RailheadError } from '#contract/errors.ts';
import type { Identity } from './identity.ts';
import type { KeptIdentity } from './keptIdentity.ts';
import { renewCertificate } from './renew.ts';

/** How often the clock is looked at, in milliseconds: it may have been set, and one timer cannot last for weeks. */
const lookMs = 10 * 60_000;
const retryLimits = { firstMs: 2_000, maxMs: 30 * 60_000 };
/** When the centre has a new CA, all agents want its certificate at once: they spread over this time. */
const spreadMs = 15_000;

export interface RenewingParts {
  kept: KeptIdentity;
  /** Base URL of the centre. */
  server: string;
  log: Log;
}

/**
 * Renews the agent's certificate as long as it runs: at about half of its life, at once when it has ended, and when the centre issues by
 * a new CA. It ends when the centre revokes the agent, which the identity then says.
 */
export function startRenewing(parts: RenewingParts): Closable {
  const { kept } = parts;
  const stop = new AbortController();
  const jitter = Math.random();
  let authority = authorities(kept.current.ca)[0];
  const work = async () => {
    for (let failures = 0; !stop.signal.aborted && kept.current.revoked === undefined; ) {
      if (!isRenewalDue(kept.current, Date.now(), jitter)) {
        failures = 0;
        await nap(lookMs);
        continue;
      }
      if (await renewOnce(parts)) continue;
      failures++;
      await nap(backoffMs(failures, retryLimits));
    }
  };
  let wake = new AbortController();
  const nap = async (ms: number) => {
    wake = new AbortController();
    const woken = AbortSignal.any([wake.signal, stop.signal]);
    await systemClock.sleep(ms, woken).catch(ignore);
  };
  const forget = kept.onChange((identity) => {
    const newest = authorities(identity.ca)[0];
    if (newest === authority) return;
    authority = newest;
    setTimeout(() => wake.abort(), Math.random() * spreadMs).unref();
  });
  const working = work();
  return {
    close: async () => {
      forget();
      stop.abort();
      await working;
    },
  };
}

/** Whether it was renewed. */
async function renewOnce({ kept, server, log }: RenewingParts): Promise<boolean> {
  try {
    await renewCertificate(kept, server);
    log.info({ expiresAt: kept.current.expiresAt, counter: kept.current.counter }, 'certificate renewed');
    return true;
  } catch (error) {
    if (isFinal(error)) await kept.markRevoked((error as Error).message);
    log[isFinal(error) ? 'error' : 'warn'](
      { err: error, expiresAt: kept.current.expiresAt },
      'the certificate is not renewed',
    );
    return false;
  }
}

/** Whether to renew now: half of the certificate's life has gone (a tenth earlier by `jitter`, 0 to 1), or an older CA issued it. */
export function isRenewalDue(
  { certificate: pem, ca }: Pick<Identity, 'certificate' | 'ca'>,
  now: number,
  jitter: number,
): boolean {
  const certificate = new X509Certificate(pem);
  const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  const due = from + (to - from) * (0.5 - jitter / 10);
  const [, ...older] = authorities(ca);
  return now >= due || older.some((authority) => certificate.checkIssued(new X509Certificate(authority)));
}

/** Each as PEM. */
function authorities(ca: string): string[] {
  return ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

/** What the centre will not change its mind about. */
export function isFinal(error: unknown): boolean {
  if (!(error instanceof RailheadError) || error.code !== 'UNAUTHENTICATED') return false;
  return error.details.reason === 'revoked' || error.details.reason === 'copied';
}
