import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Toolbox } from '#base/debian/toolbox.ts';
import { elToritoIso } from '#base/elTorito.ts';
import { x509 } from '#base/x509.ts';
import { type KeyName, keyNames, type SecureBootKeys } from './keys.ts';
import { mediumTools, type ToolOptions } from './tools.ts';

export interface MediumOptions extends ToolOptions {
  keys: SecureBootKeys;
  /** PEM or DER files of further certificates that the firmware shall believe, such as those that option ROMs are signed with. */
  alsoTrust?: readonly string[];
}

/** An enrolment medium in the two forms that machines take. */
export interface Medium {
  /** A FAT file system: for a USB stick, as its only content. */
  stick: Buffer;
  /** The same in an ISO image: for a BMC's virtual media. */
  iso: Buffer;
}

const mebibyte = 1024 * 1024;

/** systemd-boot enrols what lies in `loader/keys/auto` by itself where firmware is in its set-up mode, and restarts the machine (systemd-boot(7)). */
const loaderConfig = 'timeout 0\nsecure-boot-enroll force\n';

/**
 * A medium that enrols an operator's keys on every machine that boots it in its set-up mode, which is what firmware is in when all keys were
 * cleared. On other machines it does nothing.
 */
export async function makeMedium(options: MediumOptions): Promise<Medium> {
  const tools = await mediumTools(options);
  const scratch = await mkdtemp(path.join(tmpdir(), 'railhead-medium-'));
  try {
    const files: Record<string, Buffer> = {
      'EFI/BOOT/BOOTX64.EFI': await bootLoader(tools, 'systemd-bootx64.efi'),
      'loader/loader.conf': Buffer.from(loaderConfig),
    };
    const variables = await authVariables(options, tools, scratch);
    for (const [name, content] of Object.entries(variables)) files[`loader/keys/auto/${name}.auth`] = content;
    const stick = await fatFileSystem(files, tools, scratch);
    return { stick, iso: elToritoIso({ label: 'RAILHEAD-KEYS', uefi: stick }) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function bootLoader({ root }: Toolbox, name: string): Promise<Buffer> {
  return readFile(path.join(root, 'usr/lib/systemd/boot/efi', name));
}

/** The variables as authenticated updates (UEFI 2.10 §8.2.6): each is signed by the key that may change it. */
async function authVariables(
  { keys, alsoTrust = [] }: MediumOptions,
  tools: Toolbox,
  scratch: string,
): Promise<Record<KeyName, Buffer>> {
  const signedBy: Record<KeyName, KeyName> = { PK: 'PK', KEK: 'PK', db: 'KEK' };
  const result = {} as Record<KeyName, Buffer>;
  for (const name of keyNames) {
    const certificates = [keys.certificate(name), ...(name === 'db' ? alsoTrust : [])];
    const list = path.join(scratch, `${name}.esl`);
    await writeFile(list, await signatureList(certificates, keys.owner, tools, scratch));
    const output = path.join(scratch, `${name}.auth`);
    const signer = signedBy[name];
    const key = ['-g', keys.owner, '-k', keys.key(signer), '-c', keys.certificate(signer)];
    // Not sbvarsign 0.9.4: the digest that it signs is not that of name, GUID, attributes, time and content (UEFI 2.10 §8.2.2, computed), and OVMF
    // refuses the PK ("Security violation", seen).
    await tools.run('usr/bin/sign-efi-sig-list', [...key, name, list, output]);
    result[name] = await readFile(output);
  }
  return result;
}

/** EFI signature lists, one after the other, one for each certificate. */
async function signatureList(
  certificates: readonly string[],
  owner: string,
  tools: Toolbox,
  scratch: string,
): Promise<Buffer> {
  const lists: Buffer[] = [];
  for (const certificate of certificates) {
    const [der, list] = [path.join(scratch, 'certificate.der'), path.join(scratch, 'certificate.esl')];
    await writeFile(der, Buffer.from(new x509.X509Certificate(await readFile(certificate)).rawData));
    await tools.run('usr/bin/sbsiglist', ['--owner', owner, '--type', 'x509', '--output', list, der]);
    lists.push(await readFile(list));
  }
  return Buffer.concat(lists);
}

async function fatFileSystem(
  files: Readonly<Record<string, Buffer>>,
  tools: Toolbox,
  scratch: string,
): Promise<Buffer> {
  const [image, source] = [path.join(scratch, 'stick.fat'), path.join(scratch, 'source')];
  const size = Object.values(files).reduce((sum, { length }) => sum + length, 0);
  await writeFile(image, '');
  await truncate(image, Math.ceil(size / mebibyte + 2) * mebibyte);
  await tools.run('usr/sbin/mkfs.fat', ['-n', 'RAILHEAD', image]);
  const mtools = (args: string[]) => tools.run('usr/bin/mtools', ['-c', ...args]);
  for (const folder of ['EFI', 'EFI/BOOT', 'loader', 'loader/keys', 'loader/keys/auto'])
    await mtools(['mmd', '-i', image, `::/${folder}`]);
  for (const [name, content] of Object.entries(files)) {
    await writeFile(source, content);
    await mtools(['mcopy', '-o', '-i', image, source, `::/${name}`]);
  }
  return readFile(image);
}
