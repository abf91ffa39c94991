import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { ignore } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { checkSite } from './identity.ts';

/** HTTP's Date has whole seconds, the rest of the second cut off (RFC 9110 section 5.6.7). */
const halfSecond = 500;
/** One rotation of the CA lies between a ramdisk image and its site at most. */
const mostLinks = 1;

/**
 * What the site's clock says, in milliseconds since the epoch: the Date header of its machine listener. TLS checks a certificate's dates by
 * this machine's clock, which is the thing in doubt, so here everything else about the certificate is checked: the CA's signature, the
 * site's name in it and, by the handshake, its key. Whoever does not hold a site's key cannot set this machine's clock.
 * @throws RailheadError UNAVAILABLE when the site does not answer, cannot be trusted, or tells no time
 */
export async function askSiteTime(site: string, ca: string, signal?: AbortSignal): Promise<number> {
  const answer = await head(new URL('/', site), signal).catch((cause: unknown) => {
    throw noTime(site, (cause as Error).message, cause);
  });
  answer.resume();
  const distrust = distrustOf((answer.socket as TLSSocket).getPeerX509Certificate(), ca);
  if (distrust !== undefined) throw noTime(site, distrust);
  const date = Date.parse(answer.headers.date ?? '');
  if (Number.isNaN(date)) throw noTime(site, 'its answer has no Date');
  return date + halfSecond;
}

async function head(url: URL, signal: AbortSignal | undefined): Promise<IncomingMessage> {
  const patience = AbortSignal.timeout(10_000);
  const asking = request(url, {
    method: 'HEAD',
    agent: false,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.3',
    signal: signal === undefined ? patience : AbortSignal.any([signal, patience]),
  });
  asking.on('error', ignore).end();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return answer;
}

/** Why a certificate is not a site's of these CAs (PEM), its dates left aside. A CA newer than they are may be vouched for by one of them. */
export function distrustOf(certificate: X509Certificate | undefined, ca: string): string | undefined {
  if (certificate === undefined) return 'it showed no certificate';
  const authorities = ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (
    !leadsTo(
      certificate,
      authorities.map((pem) => new X509Certificate(pem)),
    )
  )
    return "its certificate is not of this ramdisk's CA";
  return checkSite({ subjectaltname: certificate.subjectAltName as string })?.message;
}

/** Whether each certificate of the shown chain is issued by the next, up to one of `authorities`; only CAs may issue. */
function leadsTo(certificate: X509Certificate, authorities: readonly X509Certificate[], depth = 0): boolean {
  const isIssuedBy = (issuer: X509Certificate) =>
    issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  if (authorities.some(isIssuedBy)) return true;
  const next = certificate.issuerCertificate;
  if (next === undefined || depth === mostLinks || !isIssuedBy(next)) return false;
  return leadsTo(next, authorities, depth + 1);
}

function noTime(site: string, reason: string, cause?: unknown): RailheadError {
  return new RailheadError('UNAVAILABLE', `the site at ${site} told no time: ${reason}`, { reason }, cause);
}
