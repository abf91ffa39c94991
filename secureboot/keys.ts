import { randomUUID, webcrypto } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isENOENT } from '#base/errors.ts';
import { x509 } from '#base/x509.ts';
import { RailheadError } from '#contract/errors.ts';

/** The keys of UEFI's chain (UEFI 2.10 §32.3): PK lets KEK be changed, KEK lets db be changed, db verifies what is started. */
export const keyNames = ['PK', 'KEK', 'db'] as const;
export type KeyName = (typeof keyNames)[number];

export interface SecureBootKeys {
  /** Owner GUID under which firmware lists the certificates. */
  owner: string;
  key(name: KeyName): string;
  certificate(name: KeyName): string;
}

/** What firmware is sure to know (UEFI 2.10 §32.4.1 names RSA 2048 with SHA-256). */
const algorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
};
/** Firmware does not look at the time: a certificate that has ended goes on verifying. */
const validMs = 20 * 365 * 24 * 3600 * 1000;

/**
 * Makes an operator's own keys in a folder: `PK.key`, `PK.crt`, `KEK.key`, … (PEM), and `owner.guid`.
 * @throws RailheadError CONFLICT when some are there: machines know them by now
 */
export async function makeKeys(directory: string, organisation: string): Promise<SecureBootKeys> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeNew(path.join(directory, 'owner.guid'), `${randomUUID()}\n`, 0o644);
  for (const name of keyNames) await makeKey(directory, name, `CN=${organisation} Secure Boot ${name}`);
  return openKeys(directory);
}

/**
 * The keys of such a folder.
 * @throws RailheadError NOT_FOUND when there are none
 */
export async function openKeys(directory: string): Promise<SecureBootKeys> {
  return {
    owner: (await readOwner(path.join(directory, 'owner.guid'))).trim(),
    key: (name) => path.join(directory, `${name}.key`),
    certificate: (name) => path.join(directory, `${name}.crt`),
  };
}

async function makeKey(directory: string, name: KeyName, subject: string): Promise<void> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: subject,
    keys,
    signingAlgorithm: algorithm,
    notAfter: new Date(Date.now() + validMs),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const pem = x509.PemConverter.encode(pkcs8, 'PRIVATE KEY');
  await writeNew(path.join(directory, `${name}.key`), `${pem}\n`, 0o600);
  await writeNew(path.join(directory, `${name}.crt`), `${certificate.toString('pem')}\n`, 0o644);
}

async function writeNew(file: string, text: string, mode: number): Promise<void> {
  try {
    await writeFile(file, text, { mode, flag: 'wx' });
  } catch (error) {
    throw new RailheadError(
      'CONFLICT',
      `${file} is there already: machines may know these keys, so give another folder`,
      { path: file },
      error,
    );
  }
}

async function readOwner(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!isENOENT(error)) throw error;
    throw new RailheadError(
      'NOT_FOUND',
      `no keys in ${path.dirname(file)}: run "railhead secure-boot keys"`,
      { path: file },
      error,
    );
  }
}
