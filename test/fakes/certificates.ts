import { webcrypto } from 'node:crypto';
import { certificateAlgorithm, x509 } from '#base/x509.ts';

export interface TestCa {
  certificate: x509.X509Certificate;
  keys: webcrypto.CryptoKeyPair;
  pem: string;
}

export interface ServerIdentity {
  key: string;
  cert: string;
}

const validity = () => ({
  notBefore: new Date(Date.now() - 60_000),
  notAfter: new Date(Date.now() + 3_600_000),
});

const newKeys = () => webcrypto.subtle.generateKey(certificateAlgorithm, true, ['sign', 'verify']);

export async function makeTestCa(name = 'test CA'): Promise<TestCa> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys: keys as never,
    signingAlgorithm: certificateAlgorithm,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
    ...validity(),
  });
  return { certificate, keys, pem: certificate.toString('pem') };
}

/** A certificate for 127.0.0.1 issued by `ca`, and for the URI when it is given. */
export async function issueServerIdentity(ca: TestCa, uri?: string): Promise<ServerIdentity> {
  const names = [
    { type: 'ip', value: '127.0.0.1' } as const,
    ...(uri ? [{ type: 'url', value: uri } as const] : []),
  ];
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'CN=127.0.0.1',
    issuer: ca.certificate.subject,
    publicKey: keys.publicKey as never,
    signingKey: ca.keys.privateKey as never,
    signingAlgorithm: certificateAlgorithm,
    extensions: [new x509.SubjectAlternativeNameExtension(names)],
    ...validity(),
  });
  return { key: await pemOfKey(keys.privateKey), cert: certificate.toString('pem') };
}

/** A certificate that nobody vouches for, as BMCs have. */
export async function selfSignedIdentity(name = 'bmc'): Promise<ServerIdentity> {
  const ca = await makeTestCa(name);
  return { key: await pemOfKey(ca.keys.privateKey), cert: ca.pem };
}

/** What an old BMC shows: a short RSA key, signed with SHA-1, no name but CN, long expired. */
export async function oldIdentity(): Promise<ServerIdentity> {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-1',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 1024,
  };
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=old-bmc',
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date('2012-01-01'),
    notAfter: new Date('2013-01-01'),
  });
  return { key: await pemOfKey(keys.privateKey), cert: certificate.toString('pem') };
}

async function pemOfKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der.match(/.{1,64}/g)?.join('\n')}\n-----END PRIVATE KEY-----\n`;
}
