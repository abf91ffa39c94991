import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { certificateAlgorithm, x509 } from '#base/x509.ts';
import { RailheadError } from '#contract/errors.ts';

/** The CA for the gateway and the agents: its certificate and its private key (PKCS#8), all PEM. */
export interface Authority {
  certificate: string;
  privateKey: string;
  /**
   * The certificate that the CA before gave to this one, or nothing: sent behind what this one issues, it lets those who know
   * only the CA before believe it (a cross-certificate, RFC 5280 section 3.2).
   */
  chain: string;
}

export interface IssuedCertificate {
  /** PEM. */
  certificate: string;
  /** Lower-case hex, without leading zeros. */
  serial: string;
  expiresAt: Date;
}

/** What a certificate is to say: who its holder is, and at which names and addresses it may be met. */
export interface CertificateSubject {
  /** `urn:railhead:site:<siteId>` and the like: the identity that peers check. */
  uri: string;
  names?: readonly string[];
  validMs: number;
}

const caValidMs = 20 * 365 * 24 * 3_600_000;
/** Clocks of machines without a battery lag; a certificate must not be from their future. */
const backdateMs = 24 * 3_600_000;

/** A new CA as one PEM text: certificate, then private key. */
export async function newAuthority(): Promise<string> {
  const { certificate, keys } = await selfSigned();
  return `${certificate.toString('pem')}\n${await privateKeyPem(keys.privateKey)}`;
}

/**
 * A new CA in the place of `former`: its certificate, the one that `former` gives it, and its private key.
 * @throws RailheadError UNSUPPORTED (`path-length`) when `former` may not issue that
 */
export async function succeedingAuthority(former: Authority): Promise<string> {
  if (!mayVouch(former)) throw cannotVouch();
  const { certificate, keys } = await selfSigned();
  const cross = await x509.X509CertificateGenerator.create({
    subject: certificate.subject,
    issuer: new x509.X509Certificate(former.certificate).subject,
    serialNumber: newSerial(),
    publicKey: keys.publicKey as never,
    signingKey: (await signingKey(former)) as never,
    signingAlgorithm: certificateAlgorithm,
    ...validity(caValidMs),
    extensions: await authorityExtensions(keys, 0),
  });
  const certificates = `${certificate.toString('pem')}\n${cross.toString('pem')}`;
  return `${certificates}\n${await privateKeyPem(keys.privateKey)}`;
}

/** Whether its own certificate lets it issue that of another CA (`pathLenConstraint`, RFC 5280 section 4.2.1.9). */
function mayVouch({ certificate }: Authority): boolean {
  const constraints = new x509.X509Certificate(certificate).getExtension(x509.BasicConstraintsExtension);
  return constraints?.pathLength === undefined || constraints.pathLength > 0;
}

function cannotVouch(): RailheadError {
  const message = 'this CA was made by an early build and may not vouch for another: set the centre up anew';
  return new RailheadError('UNSUPPORTED', message, { path: 'authority', reason: 'path-length' });
}

export function openAuthority(pem: string): Authority {
  const [certificate = '', ...chain] = certificatesIn(pem);
  const privateKey = createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' }) as string;
  return { certificate, privateKey, chain: chain.join('') };
}

/** The certificates of a PEM text, each as PEM. */
function certificatesIn(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block).toString());
}

/** What a holder shows in TLS: its certificate, and what leads to the older CAs. */
export function shownChain(authority: Authority, issued: IssuedCertificate): string {
  return `${issued.certificate.trim()}\n${authority.chain}`;
}

/** Each CA has a name of its own: of two with one name, TLS libraries may try the wrong one and stop. */
async function selfSigned() {
  const keys = await newKeyPair();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=Railhead agents CA ${randomBytes(4).toString('hex')}`,
    serialNumber: newSerial(),
    keys,
    signingAlgorithm: certificateAlgorithm,
    ...validity(caValidMs),
    extensions: await authorityExtensions(keys, 1),
  });
  return { certificate, keys };
}

/** `pathLength` 1 leaves room for the certificate that it gives its successor. */
async function authorityExtensions(keys: webcrypto.CryptoKeyPair, pathLength: number) {
  return [
    new x509.BasicConstraintsExtension(true, pathLength, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
  ];
}

/** A key pair with a certificate, for a server of the centre itself. */
export async function issueServer(
  authority: Authority,
  subject: CertificateSubject,
): Promise<IssuedCertificate & { privateKey: string }> {
  const keys = await newKeyPair();
  const issued = await issueFor(authority, keys.publicKey, subject);
  return { ...issued, privateKey: await privateKeyPem(keys.privateKey) };
}

/** The public key of a PKCS#10 request whose proof of possession holds; undefined for anything else. */
export async function requestedKey(csr: string): Promise<webcrypto.CryptoKey | undefined> {
  try {
    const request = new x509.Pkcs10CertificateRequest(csr);
    if (!(await request.verify())) return undefined;
    return (await request.publicKey.export(
      certificateAlgorithm,
      ['verify'],
      webcrypto as never,
    )) as webcrypto.CryptoKey;
  } catch {
    return undefined;
  }
}

/** A certificate for the holder of a key. */
export async function issueFor(
  authority: Authority,
  publicKey: webcrypto.CryptoKey,
  subject: CertificateSubject,
): Promise<IssuedCertificate> {
  const serial = newSerial();
  const { notBefore, notAfter } = validity(subject.validMs);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [subject.uri.split(':').at(-1) ?? ''] }],
    issuer: new x509.X509Certificate(authority.certificate).subject,
    serialNumber: serial,
    publicKey: publicKey as never,
    signingKey: (await signingKey(authority)) as never,
    signingAlgorithm: certificateAlgorithm,
    notBefore,
    notAfter,
    extensions: agentExtensions(subject),
  });
  return { certificate: certificate.toString('pem'), serial: hexSerial(serial), expiresAt: notAfter };
}

function agentExtensions({ uri, names = [] }: CertificateSubject): InstanceType<typeof x509.Extension>[] {
  const alternatives = names.map((value) => ({
    type: isAddress(value) ? ('ip' as const) : ('dns' as const),
    value,
  }));
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
    new x509.SubjectAlternativeNameExtension([{ type: 'url', value: uri }, ...alternatives]),
  ];
}

function isAddress(name: string): boolean {
  return /^\d+\.\d+\.\d+\.\d+$/.test(name) || name.includes(':');
}

function validity(validMs: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - backdateMs), notAfter: new Date(Date.now() + validMs) };
}

/** 127 random bits: positive and never empty, as RFC 5280 section 4.1.2.2 asks. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes.readUInt8(0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

function hexSerial(serial: string): string {
  return serial.toLowerCase().replace(/^0+/, '');
}

function newKeyPair(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(certificateAlgorithm, true, [
    'sign',
    'verify',
  ]) as Promise<webcrypto.CryptoKeyPair>;
}

function signingKey(authority: Authority): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(authority.privateKey).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, certificateAlgorithm, false, ['sign']);
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
}
