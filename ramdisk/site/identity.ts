import type { PeerCertificate } from 'node:tls';
import { uriNames } from '#base/certificateNames.ts';

const prefix = 'urn:railhead:site:';

/**
 * The site that a certificate names by its SAN URI `urn:railhead:site:<id>`. Host names are not looked at: a site is
 * reached by whatever address its provisioning network has.
 */
export function siteOfCertificate(certificate: Pick<PeerCertificate, 'subjectaltname'>): string | undefined {
  const sites = uriNames(certificate.subjectaltname)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  return sites.length === 1 && /^[A-Za-z0-9._-]{1,128}$/.test(sites[0] ?? '') ? sites[0] : undefined;
}

/** For `tls.connect`: an error unless the certificate is a site's, and that of `expected` when it is given. */
export function checkSite(
  certificate: Pick<PeerCertificate, 'subjectaltname'>,
  expected?: string,
): Error | undefined {
  const site = siteOfCertificate(certificate);
  if (site === undefined)
    return new Error("the certificate is not a site's: it has no urn:railhead:site URI");
  if (expected !== undefined && site !== expected)
    return new Error(`the certificate is of site ${site}, this machine joined ${expected}`);
  return undefined;
}
