import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { x509 } from '#base/x509.ts';

/** Firmware's TLS knows RSA; that of many machines, OVMF's of 2022 among them, was built without elliptic curves. */
const algorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
} as const;

const dayMs = 24 * 3_600_000;
/** A CA in firmware is changed by hand: it lasts as long as a machine. */
const authorityDays = 20 * 365;
/** It is new at each start, and must outlive the agent's run. */
const serverDays = 10 * 365;
/** A machine whose battery clock is behind by no more than this takes the certificate. */
const backdatedDays = 365;

/** A certificate and its key, PEM (the key as PKCS#8). */
export interface KeyAndCertificate {
  key: string;
  certificate: string;
}

/** A CA for nothing but the HTTPS boot of one site: firmware that trusts it trusts no more than that. */
export async function makeBootAuthority(site: string): Promise<KeyAndCertificate> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=Railhead HTTPS boot ${site}`,
    keys: keys as never,
    signingAlgorithm: algorithm,
    ...validity(authorityDays),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey as never),
    ],
  });
  return { key: await pem(keys.privateKey), certificate: certificate.toString('pem') };
}

/** A server's certificate for these addresses, or names, which firmware and BMCs find in its URL. */
export async function issueBootServer(
  authority: KeyAndCertificate,
  addresses: readonly string[],
): Promise<KeyAndCertificate> {
  const keys = await newKeys();
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${addresses[0]}`,
    issuer: issuer.subject,
    publicKey: keys.publicKey as never,
    signingKey: (await privateKey(authority.key)) as never,
    signingAlgorithm: algorithm,
    ...validity(serverDays),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment,
        true,
      ),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        addresses.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
      ),
    ],
  });
  return { key: await pem(keys.privateKey), certificate: certificate.toString('pem') };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ]) as Promise<webcrypto.CryptoKeyPair>;
}

function validity(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - backdatedDays * dayMs), notAfter: new Date(now + days * dayMs) };
}

async function pem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return x509.PemConverter.encode(der, 'PRIVATE KEY');
}

function privateKey(text: string): Promise<webcrypto.CryptoKey> {
  const [der] = x509.PemConverter.decode(text);
  return webcrypto.subtle.importKey('pkcs8', der as ArrayBuffer, algorithm, false, ['sign']);
}
