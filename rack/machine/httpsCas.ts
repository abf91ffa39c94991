import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

/** `EFI_CERT_X509_GUID`, a5c059a1-94e4-4aa7-87b5-ab155c2bf072, as a GUID is written (UEFI 2.10 §32.4.1). */
const x509Guid = Buffer.from('a159c0a5e494a74a87b5ab155c2bf072', 'hex');
const owner = Buffer.alloc(16, 0x77);
const listHeaderBytes = 28;

/** Where a machine's firmware finds the CAs that it trusts for HTTPS boot, as an operator enrols them in a real one. */
export function httpsCasFile({ directory }: { directory: string }): string {
  return path.join(directory, 'https-cas.esl');
}

/** Enrols CAs (PEM) in a machine's firmware; it knows them from its next power on. */
export async function enrolHttpsCas(machine: { directory: string }, cas: readonly string[]): Promise<void> {
  await writeFile(
    httpsCasFile(machine),
    Buffer.concat(cas.map((pem) => signatureList(new X509Certificate(pem).raw))),
  );
}

/** `EFI_SIGNATURE_LIST` of one certificate: type, sizes of list, header and entry; then the entry, its owner first. */
function signatureList(der: Buffer): Buffer {
  const header = Buffer.alloc(listHeaderBytes);
  x509Guid.copy(header);
  const entryBytes = owner.length + der.length;
  header.writeUInt32LE(listHeaderBytes + entryBytes, 16);
  header.writeUInt32LE(0, 20);
  header.writeUInt32LE(entryBytes, 24);
  return Buffer.concat([header, owner, der]);
}
