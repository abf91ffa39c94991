import type { PeerCertificate } from 'node:tls';
import { uriNames } from '#base/certificateNames.ts';

/**
 * For `tls.connect`: an error unless the certificate says that its holder is the centre. The CA also issues the agents'
 * certificates, so a site could otherwise stand in the centre's place. Host names are not looked at: a centre is
 * reached by whatever address the network has for it.
 */
export function checkCentre(_host: string, { subjectaltname = '' }: PeerCertificate): Error | undefined {
  const names = uriNames(subjectaltname).filter((name) => name.startsWith('urn:railhead:'));
  if (names.length === 1 && names[0] === 'urn:railhead:central') return undefined;
  return Object.assign(new Error(`the certificate is not the centre's: ${subjectaltname}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
}
