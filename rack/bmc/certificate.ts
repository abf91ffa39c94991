import { createHash, webcrypto } from 'node:crypto';
import { certificateAlgorithm, x509 } from '#base/x509.ts';

const tenYearsMs = 10 * 365 * 24 * 3600 * 1000;

/** A BMC's own self-signed certificate for its address, as BMCs make one at the factory. `sha256` is of the DER form. */
export async function bmcCertificate(
  host: string,
): Promise<{ keyPem: string; certificatePem: string; sha256: string }> {
  const keys = await webcrypto.subtle.generateKey(certificateAlgorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${host}`,
    keys,
    signingAlgorithm: certificateAlgorithm,
    notAfter: new Date(Date.now() + tenYearsMs),
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: host }])],
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    keyPem: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'),
    certificatePem: certificate.toString('pem'),
    sha256: createHash('sha256').update(Buffer.from(certificate.rawData)).digest('hex'),
  };
}
